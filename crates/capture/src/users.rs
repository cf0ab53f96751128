//! Users by name. Only /etc/passwd is read: what else nsswitch.conf(5) names (LDAP, sssd,
//! systemd's) is the C library's to load, and a static binary cannot.

use crate::error::Error;

/// A user's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Uid(pub u32);

/// The user of a name in /etc/passwd, or of a number.
pub(crate) fn find(user: &str) -> Result<Uid, Error> {
    // Without the file there are no names, and a number still does.
    let passwd = std::fs::read("/etc/passwd").unwrap_or_default();
    uid_of(user, &passwd).or_else(|| user.parse().ok().map(Uid)).ok_or_else(|| {
        Error::NoTarget(format!(
            "observe user `{user}`: /etc/passwd has no such name; a user from elsewhere (LDAP, systemd) goes by its \
             number, which `id -u {user}` tells"
        ))
    })
}

/// The number behind a name: `name:password:number:…`, a line each (passwd(5)).
fn uid_of(name: &str, passwd: &[u8]) -> Option<Uid> {
    passwd.split(|&byte| byte == b'\n').find_map(|line| {
        let mut fields = line.split(|&byte| byte == b':');
        let is_wanted = fields.next()? == name.as_bytes();
        let number = fields.nth(1).filter(|_| is_wanted)?;
        std::str::from_utf8(number).ok()?.parse().ok().map(Uid)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_and_lines_may_be_damaged() {
        let passwd = b"root:x:0:0:root:/root:/bin/sh\n\n#c\nbad:x\nworse:x:y:0\nn\xff:x:7:7::/:\nwww:x:33:33:w:/:\n";
        assert_eq!(uid_of("root", passwd), Some(Uid(0)));
        assert_eq!(uid_of("www", passwd), Some(Uid(33)));
        for missing in ["", "ww", "www-data", "bad", "worse", "x", "#c"] {
            assert_eq!(uid_of(missing, passwd), None, "{missing}");
        }
    }

    #[test]
    fn a_number_needs_no_name() {
        assert_eq!(find("4000000123").unwrap(), Uid(4_000_000_123));
        let unknown = find("no such user").unwrap_err().to_string();
        assert!(unknown.contains("/etc/passwd") && unknown.contains("number"), "{unknown}");
    }
}
