import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { fileURLToPath } from "node:url";
import type { Authority } from "../support/certificates.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/server-client.ts";
import { type Child, startChild } from "./sip/child.ts";

/** A proxy with a shipped configuration file, which a test adapts to this machine. */
export interface ShippedProxy {
  readonly port: number;
  /** Every line of its access log, and of nginx's error log. */
  logText(): string;
  /** Sends a request unchanged over a new TLS connection, and returns the whole response. */
  send(head: string, body?: string): Promise<string>;
  stop(): Promise<void>;
}

/** Options of a proxy. */
export interface ProxyOptions {
  /** The port of the server behind it. */
  readonly upstream: number;
  /** An empty folder. */
  readonly folder: string;
  readonly authority: Authority;
}

/** Starts nginx with `examples/deploy/nginx.conf` among the files of its `conf.d`. */
export function startNginx(options: ProxyOptions): Promise<ShippedProxy> {
  return startProxy("nginx", options, ({ port, cert, key, logs }, { upstream, folder }) => {
    const config = adaptFile("nginx.conf", [
      ["listen 443 ssl", `listen 127.0.0.1:${port} ssl`],
      ["/etc/letsencrypt/live/calls.example.com/fullchain.pem", cert],
      ["/etc/letsencrypt/live/calls.example.com/privkey.pem", key],
      ["http://127.0.0.1:8080", `http://127.0.0.1:${upstream}`],
      ["/var/log/nginx/error.log", logs[1]],
    ]);
    writeFileSync(join(folder, "ringport.conf"), config);
    // As in Debian: its main configuration supplies the rest.
    const main = `
daemon off;
master_process off;
pid ${join(folder, "nginx.pid")};
error_log ${logs[1]};
events {}
http {
  access_log ${logs[0]};
  client_body_temp_path ${join(folder, "bodies")};
  proxy_temp_path ${join(folder, "proxied")};
  include ${join(folder, "ringport.conf")};
}`;
    writeFileSync(join(folder, "nginx.conf"), main);
    return ["-p", folder, "-e", logs[1], "-c", join(folder, "nginx.conf")];
  });
}

/** Starts Caddy with `examples/deploy/Caddyfile` and an access log. */
export function startCaddy(options: ProxyOptions): Promise<ShippedProxy> {
  return startProxy("caddy", options, ({ port, cert, key }, { upstream, folder }) => {
    const config = adaptFile("Caddyfile", [
      ["calls.example.com {", `https://calls.example.com:${port} {\n\tbind 127.0.0.1\n\ttls ${cert} ${key}\n\tlog`],
      ["reverse_proxy 127.0.0.1:8080", `reverse_proxy 127.0.0.1:${upstream}`],
    ]);
    writeFileSync(
      join(folder, "Caddyfile"),
      `{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system ${folder}\n}\n${config}`,
    );
    return ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"];
  });
}

/** Paths and ports of this machine for a configuration. */
interface LocalSettings {
  readonly port: number;
  readonly cert: string;
  readonly key: string;
  /** The access log and the error log. */
  readonly logs: readonly [string, string];
}

async function startProxy(
  program: "nginx" | "caddy",
  options: ProxyOptions,
  configure: (settings: LocalSettings, options: ProxyOptions) => readonly string[],
): Promise<ShippedProxy> {
  const { folder, authority } = options;
  mkdirSync(folder, { recursive: true });
  const file = (name: string): string => join(folder, name);
  const { cert, key } = authority.issue({ names: ["calls.example.com"] });
  writeFileSync(file("cert.pem"), cert);
  writeFileSync(file("key.pem"), key);
  const logs = [file("access.log"), file("error.log")] as const;
  for (const log of logs) writeFileSync(log, "");
  const settings = { port: await freePort(), cert: file("cert.pem"), key: file("key.pem"), logs };
  const child: Child = startChild(program, configure(settings, options), { cwd: folder, log: file("output.log") });
  const send = (head: string, body = ""): Promise<string> => exchange(settings.port, authority.ca, head, body);
  await until(
    () => send("GET /healthz HTTP/1.1\r\nHost: calls.example.com\r\n").catch(() => child.output()),
    (response) => response.startsWith("HTTP/1.1 200"),
    15_000,
    `${program} to respond`,
  );
  return {
    port: settings.port,
    // Caddy prints its access log, because the Host has no port, and its log of errors.
    logText: () =>
      [...logs.map((log) => readFileSync(log, "utf8")), child.output()]
        .flatMap((text) => text.split("\n"))
        .filter((line) => !line.includes('"http.log.error"'))
        .join("\n"),
    send,
    stop: () => child.kill("SIGTERM"),
  };
}

/** A shipped file with a few texts replaced; it must contain each of them. */
function adaptFile(name: string, replacements: readonly (readonly [string, string])[]): string {
  const path = fileURLToPath(new URL(`../../examples/deploy/${name}`, import.meta.url));
  return replacements.reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`${name} has no ${from}`);
      return text.replaceAll(from, to);
    },
    readFileSync(path, "utf8"),
  );
}

function exchange(port: number, ca: string, head: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(
      { port, host: "127.0.0.1", servername: "calls.example.com", ca, ALPNProtocols: ["http/1.1"] },
      () => {
        const length = body === "" ? "" : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
        socket.write(Buffer.from(`${head}${length}Connection: close\r\n\r\n${body}`, "latin1"));
      },
    );
    socket.setEncoding("latin1").setTimeout(20_000, () => socket.destroy(new Error("the proxy did not respond")));
    let text = "";
    socket.on("data", (piece: string) => {
      text += piece;
    });
    socket.on("error", (error) => (text === "" ? reject(error) : resolve(text)));
    socket.on("end", () => resolve(text));
  });
}
