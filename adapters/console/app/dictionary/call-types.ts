import type { ReadonlySignal } from "@preact/signals";
import type { CallType } from "../../../../src/domain/calls/call.ts";
import { dictionary } from "./dictionary.ts";

/** Texts of a call type. */
interface CallTypeTexts {
  /** Name in a list. */
  readonly name: string;
  /** Name in the form for a new call. */
  readonly choice: string;
  readonly explanation: string;
}

/** Texts of each call type, including those of its fields: `callTypes[type].value.name`. */
export const callTypes = {
  FIXED_TTS: dictionary({
    en: { name: "Text", choice: "A text, spoken", explanation: "A voice reads your words, then hangs up." },
    pt: { name: "Texto", choice: "Um texto, falado", explanation: "Uma voz lê as suas palavras e desliga." },
  }),
  FIXED_AUDIO: dictionary({
    en: { name: "Audio file", choice: "An audio file", explanation: "Plays a WAV or MP3 file, then hangs up." },
    pt: {
      name: "Arquivo de áudio",
      choice: "Um arquivo de áudio",
      explanation: "Reproduz um arquivo WAV ou MP3 e desliga.",
    },
  }),
  DYNAMIC_STREAM: dictionary({
    en: {
      name: "Live audio",
      choice: "Your voice",
      explanation: "You talk through the microphone of this browser.",
    },
    pt: { name: "Áudio ao vivo", choice: "A sua voz", explanation: "Você fala pelo microfone deste navegador." },
  }),
  DYNAMIC_AGENT: dictionary({
    en: { name: "Agent", choice: "An agent", explanation: "Asks questions, listens, and reports the answers." },
    pt: { name: "Agente", choice: "Um agente", explanation: "Faz perguntas, escuta e relata as respostas." },
  }),
} satisfies { readonly [Type in CallType]: ReadonlySignal<CallTypeTexts> };
