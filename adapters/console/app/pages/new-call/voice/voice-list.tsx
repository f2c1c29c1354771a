import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { Voice } from "../../../../../../src/client/index.ts";
import { voiceName } from "../../../../../../src/domain/voice-name.ts";
import { Badge } from "../../../components/badge.tsx";
import { Icon } from "../../../components/icon.tsx";
import { scrollToItem } from "../../../components/scroll-to-item.ts";
import { dictionary } from "../../../dictionary/dictionary.ts";
import en from "../../../dictionary/en/voices.ts";
import pt from "../../../dictionary/pt/voices.ts";
import type { CurrentSample, SamplePlayer } from "./sample-player.ts";
import { isBest } from "./voice-languages.ts";

const t = dictionary({ en, pt });

interface ListProps {
  /** Name of the voices' language. */
  readonly language: string;
  readonly voices: readonly Voice[];
  /** True if the voices include variants. */
  readonly hasVariants: boolean;
  /** Id of the chosen voice; empty for the default. */
  readonly voiceId: string;
  /** The chosen voice, if it is not in the list; only its id, if the server does not have it either. */
  readonly unlistedVoice: Voice | string | undefined;
  /** True if the choice may be left to the language, with no voice chosen. */
  readonly hasDefault: boolean;
  readonly player: SamplePlayer;
  readonly onChoose: (voiceId: string) => void;
}

/** A language's voices, each with a sample to listen to. */
export function VoiceList({
  language,
  voices,
  hasVariants,
  voiceId,
  unlistedVoice,
  hasDefault,
  player,
  onChoose,
}: ListProps) {
  const name = useId();
  const list = useRef<HTMLDivElement>(null);
  const sample = player.current.value;
  const rows = [
    ...(hasDefault ? [{ id: "", title: t.value.byLanguage, detail: undefined, quality: undefined }] : []),
    ...(unlistedVoice === undefined ? [] : [rowOf(unlistedVoice)]),
    ...voices.map(rowOf),
  ];
  useEffect(() => {
    const row = list.current?.querySelector("input:checked")?.closest<HTMLElement>(".voice-row");
    if (list.current && row) scrollToItem(list.current, row);
  }, [voices, voiceId]);

  const toggle = (id: string): void => {
    if (sample?.voiceId === id && sample.phase !== "failed") player.stop();
    else void player.play(id);
  };
  const onKey = (event: TargetedKeyboardEvent<HTMLInputElement>): void => {
    if (event.key === "Escape") player.stop();
    if (event.key !== "Enter") return;
    event.preventDefault(); // it must not place the call
    if (event.currentTarget.value !== "") toggle(event.currentTarget.value);
  };
  return (
    <div ref={list} class="voices" role="radiogroup" aria-label={t.value.voices(language)}>
      {rows.map(({ id, title, detail, quality }) => (
        <div class="voice-row" key={id}>
          <label>
            <input
              type="radio"
              name={name}
              value={id}
              checked={id === voiceId}
              onChange={() => onChoose(id)}
              onKeyDown={onKey}
            />
            <strong>{title}</strong>
            {sample?.voiceId === id && sample.phase === "failed" ? (
              <small class="fault" role="alert">
                {t.value.failed}
              </small>
            ) : (
              detail !== undefined && <small class="quiet">{detail}</small>
            )}
            {quality && <Badge tone={quality === "natural" ? "good" : "quiet"}>{t.value[quality]}</Badge>}
          </label>
          {id !== "" && (
            <PlayButton
              voice={`${title}, ${id}`}
              phase={sample?.voiceId === id ? sample.phase : undefined}
              isReachable={id === voiceId}
              onPress={() => toggle(id)}
            />
          )}
        </div>
      ))}
      {voices.length === 1 && !hasVariants && <p class="voice-only">{t.value.only}</p>}
    </div>
  );
}

interface Row {
  readonly id: string;
  readonly title: string;
  readonly detail: string | undefined;
  readonly quality: Voice["quality"] | undefined;
}

function rowOf(voice: Voice | string): Row {
  if (typeof voice === "string") return { id: voice, title: voice, detail: t.value.unlisted, quality: undefined };
  const { id, quality } = voice;
  const name = voiceName(voice, t.value);
  return isBest(id)
    ? { id, title: t.value.best, detail: `${name} · ${id}`, quality }
    : { id, title: name, detail: id, quality };
}

/** Plays or stops a sample. @param isReachable true if Tab can reach the button; the arrow keys choose a row first */
function PlayButton({
  voice,
  phase,
  isReachable,
  onPress,
}: {
  readonly voice: string;
  readonly phase: CurrentSample["phase"] | undefined;
  readonly isReachable: boolean;
  readonly onPress: () => void;
}) {
  const { listen, loading, stop } = t.value;
  const label = phase === "loading" ? loading(voice) : phase === "playing" ? stop(voice) : listen(voice);
  return (
    <button
      type="button"
      class={`voice-play${phase === undefined ? "" : ` voice-play-${phase}`}`}
      aria-label={label}
      aria-busy={phase === "loading"}
      tabIndex={isReachable ? 0 : -1}
      onClick={onPress}
    >
      <Icon name={phase === "playing" ? "stop" : "play"} size={18} />
    </button>
  );
}
