const FFMPEG = "convert it with: ffmpeg -i input -ar 16000 -ac 1 output.wav";
/** ffmpeg does not read frames without a stated length. */
const LAME = "ffmpeg does not read it either, so convert it with: lame --decode input.mp3 output.wav";

/** Kinds of files, as `sniff` names them, without sound to convert. */
const SOUNDLESS_FORMAT = /image|document|archive|gzip|text|response|program|MIDI|empty|without audio|cut off|unknown/;

/** The command that converts an unsupported format to a playable file; undefined if there is none. */
export function conversionOf(format: string): string | undefined {
  if (SOUNDLESS_FORMAT.test(format)) return undefined;
  return format === "free-format MP3" ? LAME : FFMPEG;
}

/** The reason why a file of this format is refused, with the fix. */
export function formatRefusal(format: string): string {
  const conversion = conversionOf(format);
  return `${format}; WAV and MP3 can be played${conversion === undefined ? "" : `: ${conversion}`}`;
}
