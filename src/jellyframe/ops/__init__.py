"""Operations on whole streams: compare, transcode, survey, validate, count."""
