/** The channels of a frame: the share of each in the mix. */
export interface ChannelLayout {
  /** Share of each channel in the mono mix; the shares add up to 1. */
  readonly shares: readonly number[];
  /** Channel without a share that is heard if all others are silent: it is only assumed to be a subwoofer. */
  readonly spareChannel?: number | undefined;
}

/** Weights before normalization: full for front and centre speakers, lower for rear ones, none for the subwoofer. */
const SIDE = Math.SQRT1_2;
const CENTRE = 1;
const REAR_GAIN = 0.5;
const NONE = 0;

/** Weight of each channel in a mask (WAVEFORMATEXTENSIBLE), by its bit; speakers above the listener have none. */
const SPEAKERS: readonly number[] = [
  SIDE, // front left
  SIDE, // front right
  CENTRE, // front centre
  NONE, // low frequencies
  REAR_GAIN, // back left
  REAR_GAIN, // back right
  SIDE, // front left of centre
  SIDE, // front right of centre
  REAR_GAIN, // back centre
  REAR_GAIN, // side left
  REAR_GAIN, // side right
];

/** Masks of files that state none, by number of channels: mono, stereo, 2.1, 4.0, 5.0, 5.1, 6.1 and 7.1. */
const USUAL_MASKS: readonly number[] = [0, 0x4, 0x3, 0xb, 0x107, 0x37, 0x3f, 0x70f, 0x63f];

/** Number of bits in a channel mask. */
const MASK_BITS = 32;

/**
 * The layout of 1 to 8 channels, with the levels of ffmpeg's mix.
 * @param mask stated speakers; 0, or a count that differs from the number of channels, means the usual layout
 */
export function channelLayout(channels: number, mask = 0): ChannelLayout {
  const statedShares = speakers(mask);
  const isStated = statedShares.length === channels;
  const shares = isStated ? statedShares : speakers(USUAL_MASKS[channels] ?? 0);
  const sum = shares.reduce((total, share) => total + share, 0);
  if (shares.length !== channels || sum === 0) return { shares: new Array<number>(channels).fill(1 / channels) };
  const spareIndex = isStated ? -1 : shares.indexOf(NONE);
  return { shares: shares.map((share) => share / sum), spareChannel: spareIndex === -1 ? undefined : spareIndex };
}

function speakers(mask: number): number[] {
  const shares: number[] = [];
  for (let bit = 0; bit < MASK_BITS; bit++) if ((mask >>> bit) & 1) shares.push(SPEAKERS[bit] ?? NONE);
  return shares;
}
