import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Certificates } from "./certificates.ts";
import { type Child, startChild } from "./child.ts";
import { freePorts, untilListening } from "./ports.ts";
import type { Stage } from "./stage.ts";

export const KAMAILIO = { domain: "kam.test", user: "agent", password: "s3cret" } as const;

/** A registrar and proxy that requires credentials, for REGISTER (401) and INVITE (407), and stays in the path of calls. */
export interface Kamailio {
  /** Port for UDP and TCP; TLS uses the next one. */
  readonly port: number;
  child: Child;
  /** Kills and restarts it on the same ports; registrations are lost. */
  restart(): Promise<void>;
}

export interface KamailioOptions {
  readonly algorithm: "MD5" | "SHA-256";
  readonly keys: Certificates;
  /** Target of calls to numbers with this prefix: a port of 127.0.0.1. Others must be registered. */
  readonly routes: Readonly<Record<string, number>>;
  /** Maximum lifetime of a registration, s. Default: 3600. */
  readonly expires?: number;
}

const CONFIG = (settings: KamailioOptions & { port: number; folder: string }): string => `
debug=2
log_stderror=yes
children=2
tcp_children=2
auto_aliases=no
alias="${KAMAILIO.domain}"
listen=udp:127.0.0.1:${settings.port}
listen=tcp:127.0.0.1:${settings.port}
listen=tls:127.0.0.1:${settings.port + 1}
enable_tls=yes
tcp_connection_lifetime=3605
exit_timeout=2
${[
  "tls",
  "kex",
  "corex",
  "tm",
  "tmx",
  "sl",
  "rr",
  "pv",
  "maxfwd",
  "usrloc",
  "registrar",
  "textops",
  "siputils",
  "sanity",
  "xlog",
  "nathelper",
  "auth",
]
  .map((name) => `loadmodule "${name}.so"`)
  .join("\n")}
modparam("tls", "config", "${join(settings.folder, "tls.cfg")}")
modparam("usrloc", "db_mode", 0)
modparam("registrar", "max_expires", ${settings.expires ?? 3600})
modparam("registrar|nathelper", "received_avp", "$avp(RECEIVED)")
modparam("auth", "nonce_expire", 300)
modparam("auth", "algorithm", "${settings.algorithm}")
modparam("auth", "qop", "auth")
modparam("rr", "enable_full_lr", 1)
modparam("rr", "append_fromtag", 1)
modparam("tm", "fr_timer", 8000)
modparam("tm", "fr_inv_timer", 60000)

request_route {
  if (!mf_process_maxfwd_header("10")) { sl_send_reply("483", "Too Many Hops"); exit; }
  if (!sanity_check("1511", "7")) { exit; }
  force_rport();
  if (is_method("OPTIONS") && uri==myself && $rU==$null) { sl_send_reply("200", "Keepalive"); exit; }
  if (is_method("CANCEL")) { if (t_check_trans()) { t_relay(); } exit; }
  if (has_totag()) {
    if (loose_route()) { t_relay(); exit; }
    if (is_method("ACK")) { if (t_check_trans()) t_relay(); exit; }
    sl_send_reply("404", "Not here"); exit;
  }
  t_check_trans();
  if (is_method("REGISTER")) {
    if (!pv_www_authenticate("${KAMAILIO.domain}", "${KAMAILIO.password}", "0")) { www_challenge("${KAMAILIO.domain}", "1"); exit; }
    if ($au != $tU) { sl_send_reply("403", "Forbidden"); exit; }
    fix_nated_register();
    if (save("location")) xlog("registered $tU\\n"); else sl_reply_error();
    exit;
  }
  if (!is_method("INVITE|MESSAGE")) { sl_send_reply("405", "Method Not Allowed"); exit; }
  if (!pv_proxy_authenticate("${KAMAILIO.domain}", "${KAMAILIO.password}", "0")) { proxy_challenge("${KAMAILIO.domain}", "1"); exit; }
  consume_credentials();
  remove_hf("Route");
  record_route();
${Object.entries(settings.routes)
  .map(([prefix, port]) => `  if ($rU =~ "^\\${prefix}") { $ru = "sip:" + $rU + "@127.0.0.1:${port}"; } else`)
  .join("\n")}
  if (!lookup("location")) { sl_send_reply("480", "Temporarily Unavailable"); exit; }
  if (!t_relay()) sl_reply_error();
  exit;
}
`;

const TLS = (keys: Certificates): string => `
[server:default]
method = TLSv1.2+
verify_certificate = no
require_certificate = no
private_key = ${keys.key}
certificate = ${keys.certificate}
[client:default]
method = TLSv1.2+
verify_certificate = no
`;

export async function startKamailio(stage: Stage, options: KamailioOptions): Promise<Kamailio> {
  const folder = stage.folder("kamailio");
  const port = await freePorts(2);
  mkdirSync(join(folder, "run"));
  writeFileSync(join(folder, "tls.cfg"), TLS(options.keys));
  writeFileSync(join(folder, "kamailio.cfg"), CONFIG({ ...options, port, folder }));
  let startCount = 0;
  const start = async (): Promise<Child> => {
    const child = startChild(
      "kamailio",
      ["-f", join(folder, "kamailio.cfg"), "-w", folder, "-Y", join(folder, "run"), "-DD", "-E", "-m", "64", "-M", "8"],
      { cwd: folder, log: join(folder, `log-${++startCount}.txt`) },
    );
    await Promise.all([untilListening(port, "udp"), untilListening(port + 1, "tcp")]);
    return child;
  };
  const kamailio: Kamailio = {
    port,
    child: await start(),
    async restart() {
      await end(kamailio.child);
      kamailio.child = await start();
    },
  };
  return stage.add(kamailio, () => end(kamailio.child));
}

/** Ends the proxy, whose child processes end with the first one. */
async function end(child: Child): Promise<void> {
  await child.kill("SIGTERM");
}
