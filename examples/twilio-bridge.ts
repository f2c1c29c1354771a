#!/usr/bin/env node
// Connects an unmodified bot for Twilio Media Streams to a call: like Twilio, it opens the bot's WebSocket when the call is
// answered, and then passes every message through unchanged, both ways.
//
//   Start   RINGPORT_TOKEN=rp_live_… node twilio-bridge.ts <callId> wss://bot.example/media
//           for a DYNAMIC_STREAM call of a server with live streams: RINGPORT_STREAM_PREVIEW=1 npx ringport serve
//           RINGPORT_URL is its address, by default http://127.0.0.1:8080; with TWILIO_AUTH_TOKEN the bot gets
//           the X-Twilio-Signature that it checks
import { createHmac } from "node:crypto";
import process from "node:process";

const { RINGPORT_URL = "http://127.0.0.1:8080", RINGPORT_TOKEN = "", TWILIO_AUTH_TOKEN = "" } = process.env;
const [callId = "", botUrl = ""] = process.argv.slice(2);
const streamUrl = `${RINGPORT_URL}/v1/calls/${callId}/stream?protocol=twilio`;
const headers = { authorization: `Bearer ${RINGPORT_TOKEN}` };

/** A WebSocket with headers, which Node, Bun and Deno support and browsers do not. */
const connect = (url: string, headers: Record<string, string>): WebSocket =>
  new (WebSocket as unknown as new (url: string, options: object) => WebSocket)(url, { headers });

const call = connect(streamUrl.replace(/^http/, "ws"), headers);
const pendingMessages: string[] = [];
let bot: WebSocket | undefined;

call.onmessage = ({ data }) => {
  bot ??= dialBot(); // the first message arrives when the call is answered
  if (bot.readyState === WebSocket.OPEN) bot.send(data);
  else pendingMessages.push(data);
};
call.onerror = async () => {
  process.exitCode = 1;
  if (!bot) console.error(await (await fetch(streamUrl, { headers })).text()); // why there is no stream
};
call.onclose = ({ code, reason }) => {
  console.log(`The call has closed its stream (${code} ${reason}).`);
  process.exitCode = code === 1000 ? 0 : 1;
  if (pendingMessages.length === 0) bot?.close(1000);
};

function dialBot(): WebSocket {
  const signature = createHmac("sha1", TWILIO_AUTH_TOKEN).update(botUrl).digest("base64");
  const bot = connect(botUrl, TWILIO_AUTH_TOKEN ? { "x-twilio-signature": signature } : {});
  bot.onopen = () => {
    for (const message of pendingMessages.splice(0)) bot.send(message);
    if (call.readyState !== WebSocket.OPEN) bot.close(1000);
  };
  bot.onmessage = ({ data }) => call.readyState === WebSocket.OPEN && call.send(data);
  bot.onclose = ({ code, reason }) => {
    console.log(`The bot has closed its stream (${code} ${reason}).`);
    // A normal closure ends the call; otherwise the call waits 10 s for another bot.
    call.close(code === 1000 || code === 1005 ? 1000 : 4000);
  };
  return bot;
}
