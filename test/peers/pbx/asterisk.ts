import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Certificates } from "../sip/certificates.ts";
import { startChild } from "../sip/child.ts";
import { freePorts, untilListening } from "../sip/ports.ts";
import type { Stage } from "../sip/stage.ts";
import { ACCOUNT, CALLEES, installFolder, newestRecording, type Pbx, PEER_HZ } from "./pbx.ts";

/** Modules for a trunk: PJSIP, RTP and SRTP, and the few applications of the dialplan below. */
const MODULES = [
  ...["app_chanspy", "app_dial", "app_mixmonitor", "app_playtones", "app_senddtmf", "app_stack"],
  ...["bridge_native_rtp", "bridge_simple", "chan_pjsip", "codec_alaw", "codec_g722", "codec_resample", "codec_ulaw"],
  ...[
    "format_pcm",
    "format_wav",
    "func_channel",
    "func_cut",
    "func_groupcount",
    "func_periodic_hook",
    "func_uri",
    "pbx_config",
  ],
  ...[
    "res_crypto",
    "res_pjproject",
    "res_pjsip",
    "res_pjsip_pubsub",
    "res_pjsip_authenticator_digest",
    "res_pjsip_caller_id",
  ],
  ...["res_pjsip_dlg_options", "res_pjsip_dtmf_info", "res_pjsip_endpoint_identifier_user", "res_pjsip_nat"],
  ...["res_pjsip_registrar", "res_pjsip_sdp_rtp", "res_pjsip_session", "res_rtp_asterisk", "res_sorcery_astdb"],
  ...["res_sorcery_config", "res_sorcery_memory", "res_srtp", "res_timing_timerfd"],
];

const endpoint = (name: string, options: string): string => `
[${name}]
type=endpoint
context=callees
disallow=all
direct_media=no
rtp_timeout=30
${options}
[${name}]
type=aor
max_contacts=4
remove_existing=yes
`;

/** @param phonePort the port of the phone behind it */
const PJSIP = (port: number, keys: Certificates, phonePort: number): string => `
[global]
type=global
endpoint_identifier_order=username,ip
[udp]
type=transport
protocol=udp
bind=127.0.0.1:${port}
[tcp]
type=transport
protocol=tcp
bind=127.0.0.1:${port}
[tls]
type=transport
protocol=tls
bind=127.0.0.1:${port + 1}
cert_file=${keys.certificate}
priv_key_file=${keys.key}
method=tlsv1_2
[account]
type=auth
auth_type=userpass
username=${ACCOUNT.user}
password=${ACCOUNT.password}
${endpoint(ACCOUNT.user, "auth=account\naors=ringport\nallow=ulaw,alaw,g722\ndtmf_mode=rfc4733\ndirect_media=yes\ndirect_media_method=invite")}
${["protected", "inband"].map((name) => `[${name}-auth]\ntype=auth\nauth_type=userpass\nusername=${name}\npassword=${ACCOUNT.password}`).join("\n")}
${endpoint("protected", "auth=protected-auth\naors=protected\nallow=ulaw\nmedia_encryption=sdes")}
${endpoint("inband", "auth=inband-auth\naors=inband\nallow=ulaw\ndtmf_mode=inband")}
[phone]
type=endpoint
context=callees
disallow=all
allow=ulaw
direct_media=yes
direct_media_method=invite
aors=phone
[phone]
type=aor
contact=sip:127.0.0.1:${phonePort}
`;

const extension = (number: string): string => number.slice(1);

const recordedExtension = (number: string, folder: string, applications: readonly string[]): string =>
  [
    `exten => ${extension(number)},1,Answer()`,
    `MixMonitor(,r(${join(folder, number)}-\${UNIQUEID}.wav))`,
    ...applications,
    "Hangup()",
  ].join("\n same => n,");

const EXTENSIONS = (folder: string): string => `
[callees]
exten => _+X.,1,Goto(\${EXTEN:1},1)
${recordedExtension(CALLEES.talks, folder, [`Playtones(${PEER_HZ})`, "Wait(60)"])}
${recordedExtension(CALLEES.presses, folder, ["Wait(1)", "SendDTMF(15#0,300,150)", "Wait(60)"])}
${recordedExtension(CALLEES.listens, folder, ["Wait(12)", `Playtones(${PEER_HZ})`, "Wait(60)"])}
exten => ${extension(CALLEES.behind)},1,Dial(PJSIP/+12025550101@phone,30)
exten => ${extension(CALLEES.busy)},1,Busy(2)
`;

/** Starts the Asterisk that the variable ASTERISK names. @param phonePort the port of a phone behind it */
export async function startAsterisk(stage: Stage, keys: Certificates, phonePort: number): Promise<Pbx> {
  const prefix = installFolder("ASTERISK", "sbin/asterisk");
  const folder = stage.folder("asterisk");
  const [port, rtp] = [await freePorts(2), await freePorts(40)];
  const pathOf = (name: string): string => join(folder, name);
  for (const name of ["etc", "lib", "lib/keys", "spool", "run", "log", "rec"]) mkdirSync(pathOf(name));
  const files: Readonly<Record<string, string>> = {
    "asterisk.conf": `[directories]
astetcdir => ${pathOf("etc")}
astmoddir => ${join(prefix, "lib/asterisk/modules")}
astvarlibdir => ${pathOf("lib")}
astdbdir => ${pathOf("lib")}
astkeydir => ${pathOf("lib")}
astdatadir => ${pathOf("lib")}
astagidir => ${pathOf("lib")}
astspooldir => ${pathOf("spool")}
astrundir => ${pathOf("run")}
astlogdir => ${pathOf("log")}
[options]
nocolor = yes
`,
    "modules.conf": `[modules]\nautoload=no\n${MODULES.map((name) => `load=${name}.so`).join("\n")}\n`,
    "logger.conf": "[general]\n[logfiles]\nconsole => notice,warning,error\n",
    "pjsip.conf": PJSIP(port, keys, phonePort),
    "pjproject.conf": "[startup]\ntype=startup\n",
    "extensions.conf": EXTENSIONS(pathOf("rec")),
    "rtp.conf": `[general]\nrtpstart=${rtp}\nrtpend=${rtp + 38}\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(pathOf("etc"), name), text);
  // Its PJSIP may be a separate library in the same folder.
  const program = [`LD_LIBRARY_PATH=${join(prefix, "lib")}`, join(prefix, "sbin/asterisk")];
  const child = startChild("env", [...program, "-f", "-C", pathOf("etc/asterisk.conf")], {
    cwd: folder,
    log: pathOf("log.txt"),
  });
  stage.add(child, () => child.kill());
  await Promise.all([untilListening(port, "udp", 20_000), untilListening(port + 1, "tcp", 20_000)]);
  return {
    port,
    trunk: {},
    protected: { user: "protected" },
    speaksG722: true,
    keysAsTones: { user: "inband" },
    recordingOf: (number) => newestRecording(pathOf("rec"), number),
  };
}
