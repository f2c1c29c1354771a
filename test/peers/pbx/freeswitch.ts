import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../support/server-client.ts";
import type { Certificates } from "../sip/certificates.ts";
import { startChild } from "../sip/child.ts";
import { freePorts, untilListening } from "../sip/ports.ts";
import type { Stage } from "../sip/stage.ts";
import { ACCOUNT, CALLEES, installFolder, newestRecording, type Pbx, PEER_HZ } from "./pbx.ts";

const MODULES = ["logfile", "commands", "dialplan_xml", "dptools", "sndfile", "sofia", "tone_stream"];

const params = (values: Readonly<Record<string, string | number>>): string =>
  Object.entries(values)
    .map(([name, value]) => `<param name="${name}" value="${value}"/>`)
    .join("\n");

const TONE = `tone_stream://%(60000,0,${PEER_HZ})`;

/** An extension of the dialplan; the recording holds the caller's audio. */
const extension = (number: string, actions: readonly (readonly [application: string, data: string])[]): string => `
<extension name="${number.slice(1)}"><condition field="destination_number" expression="^\\+?${number.slice(1)}$">
${actions.map(([application, data]) => `<action application="${application}" data="${data}"/>`).join("\n")}
</condition></extension>`;

const recordedExtension = (number: string, folder: string, actions: Parameters<typeof extension>[1]): string =>
  extension(number, [
    ["answer", ""],
    ["set", "RECORD_READ_ONLY=true"],
    ["record_session", `${join(folder, number)}-\${strepoch()}-\${uuid}.wav`],
    ...actions,
  ]);

const XML = (settings: { port: number; rtp: number; certificates: string; rec: string; phonePort: number }): string => `
<document type="freeswitch/xml">
<section name="configuration">
<configuration name="modules.conf"><modules>
${MODULES.map((name) => `<load module="mod_${name}"/>`).join("\n")}
</modules></configuration>
<configuration name="logfile.conf"><profiles><profile name="default">
<mappings><map name="all" value="info,notice,warning,err,crit,alert"/></mappings>
</profile></profiles></configuration>
<configuration name="switch.conf"><settings>
${params({ "rtp-start-port": settings.rtp, "rtp-end-port": settings.rtp + 38, "max-sessions": 50, "sessions-per-second": 50 })}
</settings></configuration>
<configuration name="acl.conf"><network-lists/></configuration>
<configuration name="sofia.conf"><profiles><profile name="internal">
<domains><domain name="all" alias="true" parse="false"/></domains>
<settings>
${params({
  "sip-ip": "127.0.0.1",
  "rtp-ip": "127.0.0.1",
  "sip-port": settings.port,
  context: "callees",
  dialplan: "XML",
  "auth-calls": "true",
  "accept-blind-reg": "false",
  "challenge-realm": "auto_from",
  "force-register-domain": "127.0.0.1",
  "force-register-db-domain": "127.0.0.1",
  "inbound-codec-prefs": "PCMU,PCMA,G722",
  "outbound-codec-prefs": "PCMU",
  "dtmf-type": "rfc2833",
  "rtp-timer-name": "soft",
  tls: "true",
  "tls-bind-params": "transport=tls",
  "tls-sip-port": settings.port + 1,
  "tls-cert-dir": settings.certificates,
  "tls-version": "tlsv1.2",
})}
</settings></profile></profiles></configuration>
</section>
<section name="directory"><domain name="127.0.0.1"><groups><group name="default"><users>
<user id="${ACCOUNT.user}">
<params>${params({ password: ACCOUNT.password })}</params>
<variables><variable name="user_context" value="callees"/></variables>
</user>
</users></group></groups></domain></section>
<section name="dialplan"><context name="callees">
${recordedExtension(CALLEES.talks, settings.rec, [["playback", TONE]])}
${recordedExtension(CALLEES.presses, settings.rec, [
  ["sleep", "1000"],
  ["send_dtmf", "15#0@300"],
  ["sleep", "60000"],
])}
${recordedExtension(CALLEES.listens, settings.rec, [
  ["sleep", "12000"],
  ["playback", TONE],
])}
${extension(CALLEES.behind, [
  ["set", "bypass_media_after_bridge=true"],
  ["bridge", `sofia/internal/+12025550101@127.0.0.1:${settings.phonePort}`],
])}
${extension(CALLEES.busy, [["hangup", "USER_BUSY"]])}
<extension name="others"><condition><action application="hangup" data="UNALLOCATED_NUMBER"/></condition></extension>
</context></section>
</document>
`;

/** Starts the FreeSWITCH that the variable FREESWITCH names. @param phonePort the port of a phone behind it */
export async function startFreeswitch(stage: Stage, keys: Certificates, phonePort: number): Promise<Pbx> {
  const prefix = installFolder("FREESWITCH", "bin/freeswitch");
  const folder = stage.folder("freeswitch");
  const [port, rtp] = [await freePorts(2), await freePorts(40)];
  const pathOf = (name: string): string => join(folder, name);
  const folders = ["conf", "log", "run", "db", "certs", "scripts", "temp", "storage", "cache", "rec"];
  for (const name of folders) mkdirSync(pathOf(name));
  copyFileSync(keys.keyAndCertificate, pathOf("certs/agent.pem"));
  copyFileSync(keys.ca, pathOf("certs/cafile.pem"));
  writeFileSync(
    pathOf("conf/freeswitch.xml"),
    XML({ port, rtp, certificates: pathOf("certs"), rec: pathOf("rec"), phonePort }),
  );
  const optionFolders = ["conf", "log", "run", "db", "certs", "scripts", "temp", "storage", "cache"];
  const options = [
    "-nc",
    "-nf",
    "-nonat",
    "-nort",
    "-np",
    ...optionFolders.flatMap((name) => [`-${name}`, pathOf(name)]),
  ];
  const program = [`LD_LIBRARY_PATH=${join(prefix, "lib")}`, join(prefix, "bin/freeswitch")];
  const command = [...program, ...options, "-recordings", pathOf("rec"), "-mod", join(prefix, "lib/freeswitch/mod")];
  const child = startChild("env", command, { cwd: folder, log: pathOf("output.txt") });
  stage.add(child, () => child.kill());
  await Promise.all([untilListening(port, "udp", 30_000), untilListening(port + 1, "tcp", 30_000)]);
  await until(
    () => readFileSync(pathOf("log/freeswitch.log"), "utf8"),
    (text) => /FreeSWITCH.* Started/.test(text),
    30_000,
    "FreeSWITCH to have started",
  );
  return { port, trunk: {}, protected: {}, recordingOf: (number) => newestRecording(pathOf("rec"), number) };
}
