# The names of the tests that failed, from the output of `cargo test`: the second list that each test program calls
# `failures:`. The line of a test itself may be torn by what the test wrote past the harness.
/^failures:$/ {
    count = 0
    listing = 1
}
listing && /^    [^ ]+$/ { names[count++] = $1 }
/^test result: / {
    if (listing)
        for (i = 0; i < count; i++) print names[i]
    listing = 0
}
