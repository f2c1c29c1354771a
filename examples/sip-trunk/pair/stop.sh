#!/bin/sh
# Ends what start.sh has started.
folder=${1:-./sip-pair}
for name in kamailio phone; do
  kill "$(cat "$folder/$name.pid")" && rm "$folder/$name.pid"
done
