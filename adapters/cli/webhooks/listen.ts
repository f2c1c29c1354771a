import { newWebhookKey, webhookKey, webhookSecret } from "../../../src/domain/webhooks/webhook-signature.ts";
import { realSystem } from "../../../src/ports/system.ts";
import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { interruption } from "../serve/signals.ts";
import { httpUrl } from "../settings/parsers.ts";
import { outputClosed, printToStderr } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { forwardEvents } from "./forward-events.ts";

/** `ringport listen`: forwards new events to a server on this machine, as a webhook would. */
export const listenCommand: CommandSpec = {
  summary: "Forwards events to a local server, signed as webhooks, until Ctrl-C.",
  details:
    "Each new event of your instances and calls is sent to the URL once and in order, with the headers of a webhook. " +
    "Never retries.",
  options: [
    {
      name: "forward-to",
      placeholder: "URL",
      help: "URL to send the events to, such as http://127.0.0.1:3000/ringport.",
    },
    {
      name: "secret",
      placeholder: "SECRET",
      help: "The secret to sign with, whsec_…. Default: a new one, which is printed.",
    },
    jsonOption("each forwarded event with the `status` of its response, one per line"),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const url = httpUrl.parse(String(line.values.get("forward-to") ?? "")) as string | undefined;
    if (url === undefined)
      throw new UsageError(
        `--forward-to is ${JSON.stringify(line.values.get("forward-to") ?? "")}: it must be ${httpUrl.expected}`,
      );
    const secret = line.values.get("secret") as string | undefined;
    const key = secret === undefined ? newWebhookKey((bytes) => realSystem.random(bytes)) : webhookKey(secret);
    if (!key) throw new UsageError("--secret is not a webhook secret: it must be whsec_ and Base64");
    const { client } = await connect(line);
    const signal = AbortSignal.any([interruption().signal, outputClosed]);
    if (secret === undefined) printToStderr(`Secret: ${webhookSecret(key)}`);
    await forwardEvents(client, {
      url,
      key,
      json: line.values.get("json") === true,
      signal,
      onReady: () => printToStderr(`Forwarding events to ${url}; Ctrl-C stops.`),
    });
    return 0;
  },
};
