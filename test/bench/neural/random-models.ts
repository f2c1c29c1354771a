import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { graph, model, node, type Tensor, tensor } from "../../fixtures/models/onnx.ts";

/** Symbols of both models; the recogniser's blank follows them. */
const SYMBOLS = [..."abcdefghijklmnopqrstuvwxyz0123456789 .?!"];
const SEED = 1;

/** Widths of a Piper voice of medium size, 22,050 Hz. */
const CHANNELS = 192;
const FILTER = 768;
const HEADS = 2;
const ENCODER_LAYERS = 6;
const FLOWS = 4;
const FLOW_LAYERS = 4;
/** Length of a symbol, in frames of 256 samples: 70 ms. */
const FRAMES_PER_SYMBOL = 6;
/** Factor of length, kernel, and channels after it. */
const UPSAMPLINGS = [
  [8, 16, 128],
  [8, 16, 64],
  [4, 8, 32],
] as const;
const RESIDUALS = [
  [3, [1, 2]],
  [5, [2, 6]],
  [7, [3, 12]],
] as const;

/** Width and layers of the recogniser: 18 million parameters. */
const WIDTH = 256;
const LAYERS = 12;
const ATTENTION_HEADS = 4;
/** Number of 30 ms frames in a chunk, and number that attention looks back. */
const CHUNK = 10;
const CONTEXT = 64;
const FRAME = 240;
/** Logit of the recogniser's blank: about half of the frames have a symbol. */
const BLANK_LOGIT = 2;

/**
 * Writes models with the size of real ones and random weights, so that they keep the real engine busy for as long: a
 * voice with the shapes of Piper's medium ones (VITS without its noise, 15 million parameters), and a Conformer of 18
 * million behind the interface of T-one. The first speaks noise, the second transcribes nonsense.
 */
export function writeRandomModels(folder: string): void {
  const tokens = SYMBOLS.map((symbol, id) => `${symbol} ${id}\n`).join("");
  write(join(folder, "vits-random-en_US-noise-medium"), {
    "en_US-noise-medium.onnx": voice(),
    "tokens.txt": `<PAD> 0\n${SYMBOLS.map((symbol, id) => `${symbol} ${id + 1}\n`).join("")}`,
  });
  write(join(folder, "sherpa-onnx-streaming-t-one-random"), {
    "model.onnx": recogniser(),
    "tokens.txt": `${tokens}<blk> ${SYMBOLS.length}\n`,
  });
}

function write(folder: string, files: Readonly<Record<string, Uint8Array | string>>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
}

/** Builds a graph of layers. Each method adds operations, and returns the name of their result. */
class Layers {
  readonly nodes: Uint8Array[] = [];
  readonly constants: Tensor[] = [];
  #nameCount = 0;
  #seed = SEED;

  name(): string {
    return `v${this.#nameCount++}`;
  }

  op(type: string, inputs: readonly string[], attributes: Parameters<typeof node>[3] = {}): string {
    const output = this.name();
    this.nodes.push(node(type, inputs, [output], attributes));
    return output;
  }

  /** Two halves of the channels. */
  halves(input: string, size: number): readonly [string, string] {
    const outputs = [this.name(), this.name()] as const;
    this.nodes.push(node("Split", [input, this.ints([size, size])], outputs, { axis: 1 }));
    return outputs;
  }

  ints(values: readonly number[]): string {
    const name = this.name();
    this.constants.push(tensor(name, "int64", [values.length], values));
    return name;
  }

  scalar(value: number): string {
    const name = this.name();
    this.constants.push(tensor(name, "float", [], [value]));
    return name;
  }

  /** Weights that keep the variance of their inputs. */
  weights(dims: readonly number[], inputs: number): string {
    const values = new Float32Array(dims.reduce((product, dim) => product * dim, 1));
    const range = Math.sqrt(3 / inputs);
    for (let i = 0; i < values.length; i++) values[i] = range * (2 * this.#random() - 1);
    const name = this.name();
    this.constants.push(tensor(name, "float", dims, values));
    return name;
  }

  linear(input: string, from: number, to: number): string {
    return this.op("MatMul", [input, this.weights([from, to], from)]);
  }

  conv(input: string, from: number, to: number, kernel: number, { dilation = 1, group = 1 } = {}): string {
    const inputs = from / group;
    const pad = ((kernel - 1) * dilation) / 2;
    const attributes = { kernel_shape: [kernel], dilations: [dilation], pads: [pad, pad], group };
    return this.op("Conv", [input, this.weights([to, inputs, kernel], inputs * kernel)], attributes);
  }

  /** Normalises the last axis. */
  norm(input: string): string {
    const centred = this.op("Sub", [input, this.op("ReduceMean", [input], { axes: [-1] })]);
    const variance = this.op("ReduceMean", [this.op("Mul", [centred, centred])], { axes: [-1] });
    return this.op("Div", [centred, this.op("Sqrt", [this.op("Add", [variance, this.scalar(1e-5)])])]);
  }

  transpose(input: string): string {
    return this.op("Transpose", [input], { perm: [0, 2, 1] });
  }

  swish(input: string): string {
    return this.op("Mul", [input, this.op("Sigmoid", [input])]);
  }

  /** Attention of several heads. @param past keys and values of earlier frames */
  attention(input: string, width: number, heads: number, past?: string): string {
    const split = (rows: string): string =>
      this.op("Transpose", [this.op("Reshape", [rows, this.ints([0, -1, heads, width / heads])])], {
        perm: [0, 2, 1, 3],
      });
    const withPast = (rows: string): string =>
      past === undefined ? rows : this.op("Concat", [past, rows], { axis: 1 });
    const queries = split(this.linear(input, width, width));
    const keys = split(withPast(this.linear(input, width, width)));
    const values = split(withPast(this.linear(input, width, width)));
    const scores = this.op("MatMul", [queries, this.op("Transpose", [keys], { perm: [0, 1, 3, 2] })]);
    const scaled = this.op("Mul", [scores, this.scalar(1 / Math.sqrt(width / heads))]);
    const mixed = this.op("MatMul", [this.op("Softmax", [scaled], { axis: -1 }), values]);
    const joined = this.op("Reshape", [
      this.op("Transpose", [mixed], { perm: [0, 2, 1, 3] }),
      this.ints([0, -1, width]),
    ]);
    return this.linear(joined, width, width);
  }

  /** Mulberry32. */
  #random(): number {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.#seed ^ (this.#seed >>> 15), 1 | this.#seed);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }
}

function voice(): Uint8Array {
  const layers = new Layers();
  const embedded = layers.op("Gather", [layers.weights([SYMBOLS.length + 1, CHANNELS], 1), "input"], { axis: 0 });
  const encoded = textEncoder(layers, embedded);
  const frames = repeatSigns(layers, layers.op("Add", [encoded, durations(layers, encoded)]));
  const samples = vocoder(layers, flow(layers, frames));
  layers.nodes.push(node("Identity", [samples], ["output"]));
  return model(
    graph("random-voice", {
      nodes: layers.nodes,
      initializers: layers.constants,
      inputs: [
        { name: "input", type: "int64", shape: [1, "tokens"] },
        { name: "input_lengths", type: "int64", shape: [1] },
        { name: "scales", type: "float", shape: [3] },
      ],
      outputs: [{ name: "output", type: "float", shape: [1, 1, "samples"] }],
    }),
    {
      ...{ sample_rate: 22_050, n_speakers: 1, language: "English", comment: "coqui", frontend: "characters" },
      ...{ add_blank: 0, use_eos_bos: 0, blank_id: 0, bos_id: 0, eos_id: 0, pad_id: 0 },
    },
  );
}

/** Embedded symbols [1, symbols, channels] to [1, channels, symbols]. */
function textEncoder(layers: Layers, embedded: string): string {
  let state = embedded;
  for (let layer = 0; layer < ENCODER_LAYERS; layer++) {
    state = layers.norm(layers.op("Add", [state, layers.attention(state, CHANNELS, HEADS)]));
    const wide = layers.op("Relu", [layers.conv(layers.transpose(state), CHANNELS, FILTER, 3)]);
    state = layers.norm(layers.op("Add", [state, layers.transpose(layers.conv(wide, FILTER, CHANNELS, 3))]));
  }
  return layers.conv(layers.transpose(state), CHANNELS, CHANNELS, 1);
}

/** As much work as a predictor of durations; the durations are fixed. */
function durations(layers: Layers, encoded: string): string {
  let state = encoded;
  for (let layer = 0; layer < 12; layer++) {
    const spread = layers.conv(state, CHANNELS, CHANNELS, 3, { group: CHANNELS });
    state = layers.op("Add", [state, layers.op("Relu", [layers.conv(spread, CHANNELS, CHANNELS, 1)])]);
  }
  return layers.op("Mul", [layers.op("Tanh", [state]), layers.scalar(1e-3)]);
}

/** Repeats each symbol for its frames. */
function repeatSigns(layers: Layers, encoded: string): string {
  const columns = layers.op("Unsqueeze", [encoded, layers.ints([3])]);
  const repeated = layers.op("Expand", [columns, layers.ints([1, 1, 1, FRAMES_PER_SYMBOL])]);
  return layers.op("Reshape", [repeated, layers.ints([1, CHANNELS, -1])]);
}

function flow(layers: Layers, frames: string): string {
  const half = CHANNELS / 2;
  let state = frames;
  for (let step = 0; step < FLOWS; step++) {
    const [unchangedHalf, changedHalf] = layers.halves(state, half);
    let hidden = layers.conv(unchangedHalf, half, CHANNELS, 1);
    for (let layer = 0; layer < FLOW_LAYERS; layer++) {
      const [tanh, gate] = layers.halves(layers.conv(hidden, CHANNELS, 2 * CHANNELS, 5), CHANNELS);
      const gated = layers.op("Mul", [layers.op("Tanh", [tanh]), layers.op("Sigmoid", [gate])]);
      const [residual, skip] = layers.halves(layers.conv(gated, CHANNELS, 2 * CHANNELS, 1), CHANNELS);
      hidden = layers.op("Add", [layers.op("Add", [hidden, residual]), skip]);
    }
    const shifted = layers.op("Sub", [changedHalf, layers.conv(hidden, CHANNELS, half, 1)]);
    state = layers.op("Concat", [shifted, unchangedHalf], { axis: 1 });
  }
  return state;
}

/** HiFi-GAN: frames to samples. */
function vocoder(layers: Layers, frames: string): string {
  let from = 256;
  let state = layers.conv(frames, CHANNELS, from, 7);
  for (const [factor, kernel, to] of UPSAMPLINGS) {
    const pad = (kernel - factor) / 2;
    const weights = layers.weights([from, to, kernel], (from * kernel) / factor);
    const attributes = { kernel_shape: [kernel], strides: [factor], pads: [pad, pad] };
    const longer = layers.op("ConvTranspose", [layers.op("LeakyRelu", [state]), weights], attributes);
    const sums = RESIDUALS.map(([size, dilations]) => {
      let sum = longer;
      for (const dilation of dilations)
        sum = layers.op("Add", [sum, layers.conv(layers.op("LeakyRelu", [sum]), to, to, size, { dilation })]);
      return sum;
    });
    const sum = sums.reduce((a, b) => layers.op("Add", [a, b]));
    state = layers.op("Div", [sum, layers.scalar(sums.length)]);
    from = to;
  }
  const quieter = layers.op("Mul", [layers.conv(layers.op("LeakyRelu", [state]), from, 1, 7), layers.scalar(0.1)]);
  return layers.op("Tanh", [quieter]);
}

function recogniser(): Uint8Array {
  const layers = new Layers();
  const past = layers.op("Reshape", [layers.op("Cast", ["state"], { to: 1 }), layers.ints([0, CONTEXT, WIDTH])]);
  const samples = layers.op("Mul", [layers.op("Cast", ["signal"], { to: 1 }), layers.scalar(1 / 32_768)]);
  let frames = layers.norm(
    layers.linear(layers.op("Reshape", [samples, layers.ints([-1, CHUNK, FRAME])]), FRAME, WIDTH),
  );
  for (let layer = 0; layer < LAYERS; layer++) frames = conformer(layers, frames, past);
  const logits = layers.op("Pad", [
    layers.linear(frames, WIDTH, SYMBOLS.length),
    layers.ints([0, 0, 0, 0, 0, 1]),
    layers.scalar(BLANK_LOGIT),
  ]);
  layers.nodes.push(node("LogSoftmax", [logits], ["logprobs"], { axis: 2 }));
  const allFrames = layers.op("Concat", [past, frames], { axis: 1 });
  const newest = layers.op("Slice", [
    allFrames,
    ...[[CHUNK], [CHUNK + CONTEXT], [1]].map((values) => layers.ints(values)),
  ]);
  const next = layers.op("Reshape", [newest, layers.ints([-1, CONTEXT * WIDTH])]);
  layers.nodes.push(node("Cast", [next], ["state_next"], { to: 10 }));
  return model(
    graph("random-recogniser", {
      nodes: layers.nodes,
      initializers: layers.constants,
      inputs: [
        { name: "signal", type: "int32", shape: ["calls", FRAME * CHUNK, 1] },
        { name: "state", type: "float16", shape: ["calls", CONTEXT * WIDTH] },
      ],
      outputs: [
        { name: "logprobs", type: "float", shape: ["calls", CHUNK, SYMBOLS.length + 1] },
        { name: "state_next", type: "float16", shape: ["calls", CONTEXT * WIDTH] },
      ],
    }),
    { frame_length_ms: 300, state_dim: CONTEXT * WIDTH, sample_rate: 8_000 },
  );
}

/** A layer of a Conformer: half a feed-forward, attention, convolution, the other half. */
function conformer(layers: Layers, input: string, past: string): string {
  const feedForward = (rows: string): string => {
    const wide = layers.swish(layers.linear(layers.norm(rows), WIDTH, 4 * WIDTH));
    return layers.op("Add", [rows, layers.op("Mul", [layers.linear(wide, 4 * WIDTH, WIDTH), layers.scalar(0.5)])]);
  };
  const first = feedForward(input);
  const attended = layers.op("Add", [first, layers.attention(layers.norm(first), WIDTH, ATTENTION_HEADS, past)]);
  const [values, gate] = layers.halves(layers.transpose(layers.linear(layers.norm(attended), WIDTH, 2 * WIDTH)), WIDTH);
  const gated = layers.op("Mul", [values, layers.op("Sigmoid", [gate])]);
  const spread = layers.transpose(layers.conv(gated, WIDTH, WIDTH, 9, { group: WIDTH }));
  const convolved = layers.op("Add", [attended, layers.linear(layers.swish(spread), WIDTH, WIDTH)]);
  return layers.norm(feedForward(convolved));
}
