#!/bin/sh
# Starts a SIP server (kamailio, port 5062) and a softphone behind it (baresip, port 5070) on this computer. The phone
# answers +12025550100 automatically, plays a tone of 1 kHz, and records what it receives.
#   sh examples/sip-trunk/pair/start.sh [FOLDER]      default: ./sip-pair; recordings land in FOLDER/rec
#   sh examples/sip-trunk/pair/stop.sh [FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-./sip-pair}
mkdir -p "$folder/phone" "$folder/rec" "$folder/run"
folder=$(cd "$folder" && pwd)

sox -D -n -r 48000 -c 2 -b 16 "$folder/tone.wav" synth 40 sine 1000 gain -12
cat > "$folder/phone/config" <<END
module_path $(dirname "$(dpkg -L baresip-core | grep '/g711\.so$')")
poll_method epoll
sip_listen 127.0.0.1:5070
audio_source aufile,$folder/tone.wav
audio_player aubridge,null
audio_alert aubridge,null
ausrc_srate 48000
ausrc_channels 2
auplay_srate 48000
auplay_channels 2
ausrc_format s16
auplay_format s16
auenc_format s16
audec_format s16
rtp_ports 30000-30200
jitter_buffer_delay 1-5
net_interface 127.0.0.1
module g711.so
module sndfile.so
module aufile.so
module aubridge.so
module_tmp uuid.so
module_tmp account.so
module_app menu.so
snd_path $folder/rec
END
echo "<sip:+12025550100@127.0.0.1;transport=udp>;regint=0;answermode=auto;audio_codecs=PCMU/8000/1,PCMA/8000/1" > "$folder/phone/accounts"
: > "$folder/phone/contacts"

kamailio -f "$here/kamailio.cfg" -w "$folder" -Y "$folder/run" -DD -E -m 64 -M 8 > "$folder/kamailio.log" 2>&1 < /dev/null &
echo $! > "$folder/kamailio.pid"
baresip -f "$folder/phone" -s > "$folder/phone.log" 2>&1 < /dev/null &
echo $! > "$folder/phone.pid"
sleep 1
for name in kamailio phone; do
  kill -0 "$(cat "$folder/$name.pid")" || { echo "$name did not start; see $folder/$name.log"; exit 1; }
done
echo "kamailio listens on 127.0.0.1:5062, the phone on 127.0.0.1:5070; recordings: $folder/rec"
