"""Browse Jelly files of any size: pages of statements, frames and lookup tables, from any place."""
