/*
 * A small program with something to see: it writes a list of orders as JSON, reads it back, sorts
 * it by three keys, adds it up by customer, and compresses the text. `make demo` profiles it.
 *
 *   demo SECONDS
 *
 * Truth: `rounds` of write_json, parse_json, sort_orders, sum_by_customer and compress, below main
 * and one_round. How the time falls among them is for the picture to show.
 */
#include "workload.h"

enum { ORDERS = 20000, NAME_BYTES = 12, CUSTOMERS = 512, WINDOW = 1 << 12, HASH_SIZE = 1 << 13, TRIES = 16 };

struct order {
    uint32_t id, quantity;
    double price;
    char customer[NAME_BYTES];
};

struct text {
    char *bytes;
    size_t used, capacity;
};

static uint64_t random_state = SEED;

KEEP uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32) % limit;
}

/* Writing. */

KEEP void append(struct text *to, const char *from, size_t size)
{
    if (to->used + size > to->capacity) {
        to->capacity = (to->capacity + size) * 2;
        to->bytes = realloc(to->bytes, to->capacity);
        must(to->bytes != NULL, "realloc");
    }
    memcpy(to->bytes + to->used, from, size);
    to->used += size;
}

KEEP void write_order(struct text *to, const struct order *order)
{
    char line[128];
    int size = snprintf(line, sizeof line, "{\"id\":%u,\"customer\":\"%s\",\"quantity\":%u,\"price\":%.2f},\n", order->id,
                        order->customer, order->quantity, order->price);
    append(to, line, (size_t)size);
}

KEEP void write_json(struct text *to)
{
    to->used = 0;
    append(to, "[", 1);
    for (uint32_t id = 0; id < ORDERS; id++) {
        struct order order = {.id = id, .quantity = 1 + random_below(9), .price = random_below(100000) / 100.0};
        snprintf(order.customer, sizeof order.customer, "customer%u", random_below(CUSTOMERS) % 1000);
        write_order(to, &order);
    }
    append(to, "]\0", 2);
}

/* Reading: values come in the order in which they were written. */

KEEP const char *skip_to(const char *at, char wanted)
{
    while (*at && *at != wanted)
        at++;
    return *at ? at + 1 : at;
}

KEEP double parse_number(const char **at)
{
    char *end;
    double value = strtod(*at, &end);
    *at = end;
    return value;
}

KEEP void parse_string(const char **at, char *into)
{
    const char *start = skip_to(*at, '"');
    *at = skip_to(start, '"');
    size_t size = (size_t)(*at - start) - 1;
    size = size < NAME_BYTES - 1 ? size : NAME_BYTES - 1;
    memcpy(into, start, size);
    into[size] = '\0';
}

KEEP const char *parse_order(const char *at, struct order *order)
{
    at = skip_to(at, ':');
    order->id = (uint32_t)parse_number(&at);
    at = skip_to(at, ':');
    parse_string(&at, order->customer);
    at = skip_to(at, ':');
    order->quantity = (uint32_t)parse_number(&at);
    at = skip_to(at, ':');
    order->price = parse_number(&at);
    return skip_to(at, '}');
}

KEEP size_t parse_json(const char *at, struct order *orders)
{
    size_t count = 0;
    while (count < ORDERS && *(at = skip_to(at, '{')))
        at = parse_order(at, &orders[count++]);
    return count;
}

/* Sorting and adding up. */

KEEP int compare_orders(const void *left, const void *right)
{
    const struct order *a = left, *b = right;
    int by_customer = strcmp(a->customer, b->customer);
    if (by_customer)
        return by_customer;
    if (a->price != b->price)
        return a->price < b->price ? -1 : 1;
    return a->id < b->id ? -1 : 1;
}

KEEP void sort_orders(struct order *orders, size_t count)
{
    qsort(orders, count, sizeof *orders, compare_orders);
}

KEEP double sum_by_customer(const struct order *orders, size_t count)
{
    double most = 0, sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && strcmp(orders[i].customer, orders[i - 1].customer) != 0)
            sum = 0;
        sum += orders[i].quantity * orders[i].price;
        most = sum > most ? sum : most;
    }
    return most;
}

/* Compressing: back references into a window, found by a hash of three bytes. */

KEEP size_t match_length(const char *a, const char *b, size_t limit)
{
    size_t length = 0;
    while (length < limit && a[length] == b[length])
        length++;
    return length;
}

static uint32_t hash_of(const char *at)
{
    uint32_t three = (uint32_t)(uint8_t)at[0] | (uint32_t)(uint8_t)at[1] << 8 | (uint32_t)(uint8_t)at[2] << 16;
    return three * 2654435761u >> 19;
}

KEEP size_t longest_match(const struct text *text, size_t at, const uint32_t *heads, const uint32_t *previous)
{
    size_t best = 0, limit = text->used - at < 255 ? text->used - at : 255;
    uint32_t from = heads[hash_of(text->bytes + at)];
    for (int tries = 0; tries < TRIES && from != 0 && at - (from - 1) < WINDOW; tries++) {
        size_t length = match_length(text->bytes + from - 1, text->bytes + at, limit);
        best = length > best ? length : best;
        from = previous[(from - 1) % WINDOW];
    }
    return best;
}

KEEP size_t compress(const struct text *text)
{
    static uint32_t heads[HASH_SIZE], previous[WINDOW];
    size_t out = 0;
    memset(heads, 0, sizeof heads);
    for (size_t at = 0; at + 3 < text->used;) {
        size_t length = longest_match(text, at, heads, previous);
        size_t step = length >= 4 ? length : 1;
        out += length >= 4 ? 3 : 1;
        for (size_t end = at + step; at < end && at + 3 < text->used; at++) {
            uint32_t hash = hash_of(text->bytes + at);
            previous[at % WINDOW] = heads[hash];
            heads[hash] = (uint32_t)at + 1;
        }
    }
    return out;
}

KEEP size_t one_round(struct text *text, struct order *orders)
{
    write_json(text);
    size_t count = parse_json(text->bytes, orders);
    sort_orders(orders, count);
    double most = sum_by_customer(orders, count);
    return compress(text) + (most < 0);
}

int main(int argc, char **argv)
{
    uint64_t end_ns = now_ns() + length_ns(argc, argv), rounds = 0;
    struct text text = {0};
    struct order *orders = calloc(ORDERS, sizeof *orders);
    must(orders != NULL, "calloc");
    size_t compressed = 0;
    do {
        compressed = one_round(&text, orders);
        rounds++;
    } while (now_ns() < end_ns);
    printf("truth rounds=%lu bytes=%lu compressed=%lu\n", (unsigned long)rounds, (unsigned long)text.used,
           (unsigned long)compressed);
    free(orders);
    free(text.bytes);
    return 0;
}
