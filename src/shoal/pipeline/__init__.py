"""The data's way from a table and a policy to a verified release."""
