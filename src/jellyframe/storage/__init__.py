"""Where bytes come from and go to: local files, object stores, compression, atomic output."""
