/** Length of a burst of ringing, and the time from one to the next, s. */
const BURST_S = 1.2;
const PERIOD_S = 3;
/** Maximum number of bursts: no phone rings longer than the longest ring timeout. */
const MAX_BURSTS = 100;
const LOUDNESS = 0.12;

/** Rings until the returned function is called: two tones in turn, 1.2 s of every 3 s, made by the browser. */
export function ring(context: AudioContext): () => void {
  const gain = new GainNode(context, { gain: 0 });
  const tone = new OscillatorNode(context, { type: "sine", frequency: 950 });
  const trill = new OscillatorNode(context, { type: "square", frequency: 12 });
  const depth = new GainNode(context, { gain: 130 });
  trill.connect(depth).connect(tone.frequency);
  tone.connect(gain).connect(context.destination);
  const start = context.currentTime + 0.05;
  for (let burst = 0; burst < MAX_BURSTS; burst++) {
    const at = start + burst * PERIOD_S;
    gain.gain.setTargetAtTime(LOUDNESS, at, 0.02);
    gain.gain.setTargetAtTime(0, at + BURST_S, 0.02);
  }
  tone.start();
  trill.start();
  return () => {
    tone.stop();
    trill.stop();
    gain.disconnect();
  };
}

/** The two tones of each key (ITU-T Q.23), Hz. */
const LOW_HZ = [697, 770, 852, 941];
const HIGH_HZ = [1209, 1336, 1477];
const KEYS = ["123", "456", "789", "*0#"];

/** Plays the tones of a key on this phone, as feedback. */
export function playKey(context: AudioContext, digit: string): void {
  const row = KEYS.findIndex((keys) => keys.includes(digit));
  const column = KEYS[row]?.indexOf(digit) ?? -1;
  const gain = new GainNode(context, { gain: 0.05 });
  gain.connect(context.destination);
  for (const frequency of [LOW_HZ[row], HIGH_HZ[column]]) {
    const tone = new OscillatorNode(context, { frequency: frequency ?? 0 });
    tone.connect(gain);
    tone.start();
    tone.stop(context.currentTime + 0.1);
  }
}

/** Flashes the title of the page until the returned function is called. */
export function flashTitle(text: string): () => void {
  const originalTitle = document.title;
  let isShown = false;
  const flash = (): void => {
    isShown = !isShown;
    document.title = isShown ? text : originalTitle;
  };
  flash();
  const timer = setInterval(flash, 1_000);
  return () => {
    clearInterval(timer);
    document.title = originalTitle;
  };
}

/** Shows a notification if the user has allowed it, until the returned function is called. */
export function notify(title: string, body: string): () => void {
  if (!("Notification" in globalThis) || Notification.permission !== "granted") return () => {};
  try {
    const notification = new Notification(title, { body, tag: "ringport-phone", requireInteraction: true });
    notification.onclick = () => {
      focus();
      notification.close();
    };
    return () => notification.close();
  } catch {
    return () => {}; // some mobile browsers allow notifications by service workers only
  }
}
