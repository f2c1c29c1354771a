import { httpUrl, textSetting } from "../settings/parsers.ts";
import { type Setting, setting } from "../settings/setting.ts";

export const URL_SETTING: Setting = setting(
  "url",
  "RINGPORT_URL",
  httpUrl,
  "http://127.0.0.1:8080",
  "The server's address, base path included.",
);

export const TOKEN_SETTING: Setting = setting(
  "token",
  "RINGPORT_TOKEN",
  textSetting("TOKEN", "a token such as rp_live_…", /^[\x21-\x7e]+$/),
  "none",
  "Access token of the user; the variable keeps it out of the process list.",
  { flag: "token", secret: true },
);

/** Settings of every command that sends requests to a server. */
export const CONNECTION_SETTINGS: readonly Setting[] = [URL_SETTING, TOKEN_SETTING];
