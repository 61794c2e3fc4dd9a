"""The reason this exists: durable jobs that summarise every row of a sheet."""
