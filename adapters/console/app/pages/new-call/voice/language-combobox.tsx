import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { Badge } from "../../../components/badge.tsx";
import { Icon } from "../../../components/icon.tsx";
import { scrollToItem } from "../../../components/scroll-to-item.ts";
import { dictionary } from "../../../dictionary/dictionary.ts";
import en from "../../../dictionary/en/voices.ts";
import pt from "../../../dictionary/pt/voices.ts";
import { matchingLanguages, type VoiceLanguage } from "./voice-languages.ts";

const t = dictionary({ en, pt });

interface Props {
  readonly languages: readonly VoiceLanguage[];
  /** Tag of the chosen language. */
  readonly tag: string | undefined;
  /** Name of the chosen language. */
  readonly name: string;
  readonly isInvalid: boolean;
  /** Ids of the hint and the fault. */
  readonly describedBy: string;
  readonly onChoose: (language: VoiceLanguage) => void;
}

/** A field for choosing a language: a search field with a list. */
export function LanguageCombobox({ languages, tag, name, isInvalid, describedBy, onChoose }: Props) {
  const id = useId();
  const isOpen = useSignal(false);
  /** The typed text; undefined before anything is typed. */
  const query = useSignal<string | undefined>(undefined);
  const activeTag = useSignal<string | undefined>(undefined);
  const popup = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const matches = isOpen.value ? matchingLanguages(languages, query.value ?? "") : [];

  const open = (): void => {
    if (isOpen.value) return;
    isOpen.value = true;
    activeTag.value = tag;
  };
  const close = (): void => {
    isOpen.value = false;
    query.value = undefined;
  };
  const choose = (language: VoiceLanguage): void => {
    close();
    onChoose(language);
  };
  const move = (step: number): void => {
    const index = matches.findIndex((language) => language.tag === activeTag.value);
    const next = index === -1 ? (step > 0 ? 0 : matches.length - 1) : (index + step + matches.length) % matches.length;
    activeTag.value = matches[next]?.tag;
  };
  const activeLanguage = matches.find((language) => language.tag === activeTag.value);
  const actions = new Map<string, () => void>(
    isOpen.value
      ? [
          ["ArrowDown", () => move(1)],
          ["ArrowUp", () => move(-1)],
          ["Enter", () => activeLanguage && choose(activeLanguage)],
          ["Escape", close],
        ]
      : [
          ["ArrowDown", open],
          ["ArrowUp", open],
          ["Enter", open],
        ],
  );

  useEffect(() => {
    if (isOpen.value) popup.current?.scrollIntoView({ block: "nearest" });
  }, [isOpen.value]);
  useEffect(() => {
    const option = list.current?.querySelector<HTMLElement>(".voice-option-active");
    if (list.current && option) scrollToItem(list.current, option);
  }, [isOpen.value, activeTag.value]);

  const optionId = (language: VoiceLanguage): string => `${id}-${language.tag}`;
  return (
    <div class="voice-language">
      <input
        class="input"
        type="text"
        role="combobox"
        aria-label={t.value.language}
        aria-expanded={isOpen.value}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={activeLanguage && optionId(activeLanguage)}
        aria-invalid={isInvalid}
        aria-describedby={describedBy}
        autocomplete="off"
        spellcheck={false}
        placeholder={t.value.search}
        value={query.value ?? name}
        onFocus={(event) => event.currentTarget.select()}
        onClick={(event) => {
          if (query.value === undefined) event.currentTarget.select();
          open();
        }}
        onBlur={close}
        onInput={(event) => {
          open();
          query.value = event.currentTarget.value;
          activeTag.value = matchingLanguages(languages, query.value)[0]?.tag;
        }}
        onKeyDown={(event) => {
          const action = event.isComposing ? undefined : actions.get(event.key);
          if (action === undefined) return;
          event.preventDefault(); // Enter must not place the call
          action();
        }}
      />
      <Icon name="down" />
      {isOpen.value && (
        // biome-ignore lint/a11y/noStaticElementInteractions: a click leaves the focus in the text field.
        <div class="voice-popup" ref={popup} onMouseDown={(event) => event.preventDefault()}>
          <div ref={list} role="listbox" id={`${id}-list`} aria-label={t.value.language}>
            {groupsOf(matches, query.value).map(({ title, items }) => (
              // biome-ignore lint/a11y/useSemanticElements: a listbox has groups of options.
              <div key={title} role="group" aria-label={title}>
                {title !== undefined && (
                  <div class="voice-group" aria-hidden="true">
                    {title}
                  </div>
                )}
                {items.map((language) => (
                  <Option
                    key={language.tag}
                    id={optionId(language)}
                    language={language}
                    isChosen={language.tag === tag}
                    isActive={language.tag === activeTag.value}
                    onChoose={() => choose(language)}
                  />
                ))}
              </div>
            ))}
          </div>
          {matches.length === 0 && (
            <p class="voice-none" role="status">
              {t.value.noMatch(query.value ?? "")}
            </p>
          )}
        </div>
      )}
    </div>
  );
}

/** A language in the list. */
function Option({
  id,
  language: { tag, name, hasNatural },
  isChosen,
  isActive,
  onChoose,
}: {
  readonly id: string;
  readonly language: VoiceLanguage;
  readonly isChosen: boolean;
  readonly isActive: boolean;
  readonly onChoose: () => void;
}) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the text field has the focus and the keys.
    <div
      id={id}
      class={`voice-option${isActive ? " voice-option-active" : ""}`}
      role="option"
      aria-selected={isChosen}
      onClick={onChoose}
    >
      <span>
        {name} <small class="mono quiet">{tag}</small>
      </span>
      {hasNatural && <Badge tone="good">{t.value.natural}</Badge>}
    </div>
  );
}

/** The likely languages in one group and the others in another; search results are in a single group. */
function groupsOf(
  languages: readonly VoiceLanguage[],
  query: string | undefined,
): { readonly title: string | undefined; readonly items: readonly VoiceLanguage[] }[] {
  if (query !== undefined && query.trim() !== "") return [{ title: undefined, items: languages }];
  const groups = [
    { title: t.value.preferred, items: languages.filter(({ isPreferred }) => isPreferred) },
    { title: t.value.others, items: languages.filter(({ isPreferred }) => !isPreferred) },
  ];
  return groups.filter(({ items }) => items.length > 0);
}
