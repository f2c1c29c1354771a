import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** A tab and its content. */
export interface Tab {
  readonly name: string;
  readonly content: () => ComponentChildren;
}

/** Tabs (ARIA Authoring Practices): arrow keys move between them. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  const id = useId();
  const selectedIndex = useSignal(0);
  const move = (event: KeyboardEvent): void => {
    const next = {
      ArrowRight: selectedIndex.value + 1,
      ArrowLeft: selectedIndex.value - 1,
      Home: 0,
      End: tabs.length - 1,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    selectedIndex.value = (next + tabs.length) % tabs.length;
    document.getElementById(`${id}-tab-${selectedIndex.value}`)?.focus();
  };
  return (
    <div class="stack">
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-tab-${index}`}
            aria-selected={index === selectedIndex.value}
            aria-controls={`${id}-panel`}
            tabIndex={index === selectedIndex.value ? 0 : -1}
            onClick={() => {
              selectedIndex.value = index;
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${selectedIndex.value}`}>
        {tabs[selectedIndex.value]?.content()}
      </div>
    </div>
  );
}
