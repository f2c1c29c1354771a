import type { Client, Voice } from "../../../src/client/index.ts";
import { voiceName } from "../../../src/domain/voice-name.ts";
import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { type ListColumn, printRows } from "../terminal/table.ts";
import { printJson, printToStderr } from "../terminal/terminal.ts";
import { playSample } from "./play-sample.ts";

/** `ringport voices`: lists the server's voices, and plays samples. */
export const voices: CommandSpec = {
  summary: "Lists the available voices, or plays one.",
  details: "--play looks for a player on this machine; without one it saves the sample as a WAV file.",
  options: [
    { name: "language", placeholder: "TAG", help: "Only voices of this language: pt, or pt-BR." },
    { name: "all", help: "Lists variants, constructed languages and accents that sound like another, too." },
    { name: "play", placeholder: "ID", help: "Plays a sample of this voice.", completion: "voice" },
    jsonOption("the list (with --play `voice`, `bytes`, `player`, `file`)"),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const { client } = await connect(line);
    const json = line.values.get("json") === true;
    const play = line.values.get("play") as string | undefined;
    if (play !== undefined) return playVoice(client, play, json);
    const language = line.values.get("language") as string | undefined;
    const variants = line.values.has("all");
    const matches = await client.voices({ language, variants });
    if (json) printJson(matches);
    else if (matches.length === 0) printToStderr(noVoice(await client.voices(), language));
    else printRows(COLUMNS, matches.map(cells));
    return 0;
  },
};

const COLUMNS: readonly ListColumn[] = [
  { head: "ID" },
  { head: "LANGUAGE" },
  { head: "ENGINE" },
  { head: "QUALITY" },
  { head: "NAME", cut: true },
];

function cells(voice: Voice): string[] {
  const { id, language, engine, quality, alias_of } = voice;
  const name = voiceName(voice);
  return [id, language, engine, quality, alias_of === null ? name : `${name} (${alias_of})`];
}

function noVoice(allVoices: readonly Voice[], language: string | undefined): string {
  if (language === undefined || allVoices.length === 0)
    return "No voice is available on that server; run ringport doctor on its machine to see what to install.";
  const languages = [...new Set(allVoices.map((voice) => voice.language.split("-")[0]))].sort();
  return `No voice speaks "${language}"; available languages: ${languages.join(" ")}`;
}

async function playVoice(client: Client, voice: string, json: boolean): Promise<number> {
  const wav = await client.voiceSample(voice);
  const { player, file } = await playSample(wav, `${voice}.wav`);
  if (json) printJson({ voice, bytes: wav.length, player, file });
  else if (player === null) printToStderr(`No player on this machine works; the sample is in ${file}`);
  else printToStderr(`${voice}, played by ${player}`);
  return 0;
}
