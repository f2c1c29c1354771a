/** 16-bit mono sound. */
export interface Sound {
  readonly sampleRate: number;
  readonly samples: Int16Array;
}

/** Reads a plain WAV file: a header of 44 bytes, 16-bit PCM, mono. @throws {Error} it has another format */
export function readWav(file: Buffer): Sound {
  const text = (from: number, to: number) => file.toString("latin1", from, to);
  const header = {
    riff: text(0, 4),
    wave: text(8, 16),
    formatBytes: file.readUInt32LE(16),
    coding: file.readUInt16LE(20),
    channels: file.readUInt16LE(22),
    bits: file.readUInt16LE(34),
    data: text(36, 40),
  };
  const expectedHeader = {
    riff: "RIFF",
    wave: "WAVEfmt ",
    formatBytes: 16,
    coding: 1,
    channels: 1,
    bits: 16,
    data: "data",
  };
  if (JSON.stringify(header) !== JSON.stringify(expectedHeader))
    throw new Error(`unexpected WAV header: ${JSON.stringify(header)}`);
  const bytes = file.readUInt32LE(40);
  if (file.readUInt32LE(4) !== file.length - 8 || bytes !== file.length - 44)
    throw new Error(`the WAV file claims ${bytes} bytes of sound, but has ${file.length - 44}`);
  const samples = Int16Array.from({ length: bytes / 2 }, (_, i) => file.readInt16LE(44 + 2 * i));
  return { sampleRate: file.readUInt32LE(24), samples };
}

/** A WAV file of a tone; its header may contain false values. */
export function toneWav({
  hz = 1000,
  ms = 1000,
  sampleRate = 16_000,
  amplitude = 10_000,
  claimedBytes = undefined as number | undefined,
} = {}): Buffer {
  const count = Math.round((ms * sampleRate) / 1000);
  const file = Buffer.alloc(44 + 2 * count);
  file.write("RIFF", 0, "latin1");
  file.writeUInt32LE(Math.min(0xffffffff, (claimedBytes ?? 2 * count) + 36), 4);
  file.write("WAVEfmt ", 8, "latin1");
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(sampleRate, 24);
  file.writeUInt32LE(2 * sampleRate, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write("data", 36, "latin1");
  file.writeUInt32LE(claimedBytes ?? 2 * count, 40);
  for (let i = 0; i < count; i++)
    file.writeInt16LE(Math.round(amplitude * Math.sin((2 * Math.PI * hz * i) / sampleRate)), 44 + 2 * i);
  return file;
}

/** Range of the sound louder than a whisper: the first sample above the level, and the one after the last. */
export function loudPart({ samples }: Sound, level = 200): { from: number; to: number } {
  const isLoud = (sample: number): boolean => Math.abs(sample) > level;
  return { from: samples.findIndex(isLoud), to: samples.findLastIndex(isLoud) + 1 };
}

/** Number of sounds separated by at least this much silence, ms. */
export function countSounds({ samples, sampleRate }: Sound, gapMs: number): number {
  let count = 0;
  let quietSamples = Number.POSITIVE_INFINITY;
  for (const sample of samples) {
    if (Math.abs(sample) <= 200) quietSamples++;
    else {
      if (quietSamples >= (gapMs * sampleRate) / 1000) count++;
      quietSamples = 0;
    }
  }
  return count;
}

/** Share of the energy at one frequency, 0 to 1. */
export function toneShare({ samples, sampleRate }: Sound, hz: number): number {
  let [real, imaginary, energy] = [0, 0, 0];
  samples.forEach((sample, i) => {
    const angle = (2 * Math.PI * hz * i) / sampleRate;
    real += sample * Math.cos(angle);
    imaginary += sample * Math.sin(angle);
    energy += sample * sample;
  });
  return energy === 0 ? 0 : (2 * (real * real + imaginary * imaginary)) / (samples.length * energy);
}

/** Duration of a tone, ms, in pieces of 20 ms with only the tone. Pieces that a stall of the machine damaged do not count. */
export function toneMs({ samples, sampleRate }: Sound, hz: number): number {
  const size = sampleRate / 50;
  let ms = 0;
  for (let at = 0; at + size <= samples.length; at += size) {
    const window = { samples: samples.subarray(at, at + size), sampleRate };
    if (loudness(window) > 500 && toneShare(window, hz) > 0.95) ms += 20;
  }
  return ms;
}

/** Largest jump of a tone's phase between neighbouring windows of 10 ms, in samples: a lost or doubled sample shifts everything after it by one. */
export function phaseJump(sound: Sound, hz: number): number {
  return Math.max(0, ...phaseShifts(sound, hz));
}

/** Number of neighbouring windows of 10 ms that are out of phase by more than half a sample. */
export function phaseJumps(sound: Sound, hz: number): number {
  return phaseShifts(sound, hz).filter((samples) => samples > 0.5).length;
}

function phaseShifts({ samples, sampleRate }: Sound, hz: number): number[] {
  const size = sampleRate / 100;
  const phases: number[] = [];
  for (let at = 0; at + size <= samples.length; at += size) {
    let [real, imaginary] = [0, 0];
    for (let i = at; i < at + size; i++) {
      real += samples[i]! * Math.cos((2 * Math.PI * hz * i) / sampleRate);
      imaginary -= samples[i]! * Math.sin((2 * Math.PI * hz * i) / sampleRate);
    }
    phases.push(Math.atan2(imaginary, real));
  }
  return phases
    .slice(1)
    .map((phase, i) => Math.abs(((phase - phases[i]! + 3 * Math.PI) % (2 * Math.PI)) - Math.PI))
    .map((turn) => (turn / (2 * Math.PI)) * (sampleRate / hz));
}

/** Loudness: root mean square. */
export function loudness({ samples }: Sound): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length));
}
