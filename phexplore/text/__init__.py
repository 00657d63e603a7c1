"""Text as a value: what people and files supply, which nothing may rewrite."""
