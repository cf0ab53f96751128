/*
 * C++ names of every common kind, each a function that stays one and takes an equal share.
 *
 *   names SECONDS
 *
 * Truth: these functions, as they read without parameter lists and return types, in equal shares:
 *
 *   geo::Point::rotate                            a method in a namespace
 *   geo::Point::operator+=                        an operator
 *   geo::Point::operator()                        the call operator: its name holds parentheses
 *   (anonymous namespace)::hidden                 internal linkage
 *   Box<unsigned long>::fill<int>                 a member template of a class template
 *   apply<unsigned long (*)(unsigned long)>       a function type among the template arguments
 *   run_lambda(unsigned long)::{lambda(unsigned long)#1}::operator()     a lambda, named by its place
 *   geo::Point::~Point                            a destructor
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#define KEEP __attribute__((noipa, aligned(64)))

static inline uint64_t now_ns()
{
    timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return uint64_t(at.tv_sec) * 1000000000u + uint64_t(at.tv_nsec);
}

/* A unit of work, of which each of the functions holds its own copy. */
__attribute__((always_inline)) static inline uint64_t unit(uint64_t state)
{
    for (unsigned step = 0; step < 40000; step++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

static uint64_t kept;

namespace geo {
struct Point {
    uint64_t state;
    KEEP void rotate() { state = unit(state); }
    KEEP Point &operator+=(uint64_t other)
    {
        state = unit(state + other);
        return *this;
    }
    KEEP uint64_t operator()(uint64_t by) { return state = unit(state ^ by); }
    KEEP ~Point() { kept = unit(state); }
};
} // namespace geo

namespace {
KEEP uint64_t hidden(uint64_t state)
{
    return unit(state);
}
} // namespace

template <typename T> struct Box {
    T value;
    template <typename U> KEEP void fill(U by) { value = unit(value + T(by)); }
};

KEEP static uint64_t plain(uint64_t state)
{
    return state + 1;
}

template <typename F> KEEP uint64_t apply(F function, uint64_t state)
{
    return unit(function(state));
}

KEEP static uint64_t run_lambda(uint64_t state)
{
    auto lambda = [](uint64_t at) KEEP { return unit(at); };
    return lambda(state);
}

KEEP static uint64_t one_round(uint64_t state)
{
    geo::Point point{state};
    Box<uint64_t> box{state};
    point.rotate();
    point += 7;
    point(9);
    box.fill(3);
    return hidden(box.value) ^ apply(plain, point.state) ^ run_lambda(state);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], nullptr) : 1;
    uint64_t end_ns = now_ns() + uint64_t(seconds * 1e9), state = 88172645463325252u, rounds = 0;
    for (; now_ns() < end_ns; rounds++)
        state = one_round(state | 1);
    printf("truth functions=8 rounds=%lu state=%lu\n", (unsigned long)rounds, (unsigned long)(state ^ kept));
    return 0;
}
