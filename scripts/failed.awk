# Prints the names of failed tests from the output of `cargo test`: the second list `failures:` of each test program. A
# test's own result line may be torn by output that bypasses the harness.
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
