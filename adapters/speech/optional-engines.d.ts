// The optional engines publish no types. Only the members that this project uses are declared.

declare module "@echogarden/espeak-ng-emscripten" {
  interface EspeakVoice {
    readonly identifier: string;
    readonly name: string;
    readonly languages: readonly { readonly name: string; readonly priority: number }[];
  }

  interface EspeakWorker {
    list_voices(): EspeakVoice[];
    /** Returns 0; for an unknown voice, returns another number and keeps the previous voice. */
    set_voice(name: string): number;
    /** Words per minute. */
    set_rate(rate: number): void;
    /** 0 to 100. */
    set_pitch(pitch: number): void;
    /** 0 to 100. */
    set_range(range: number): void;
    get_samplerate(): number;
    /** The samples are in WebAssembly memory and valid only during the callback; returning true stops the engine. */
    synthesize(ssml: string, callback: (samples: Int16Array | null, events: unknown) => boolean): void;
  }

  export default function init(): Promise<{ readonly eSpeakNGWorker: new () => EspeakWorker }>;
  export type { EspeakVoice, EspeakWorker };
}
