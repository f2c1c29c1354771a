/** Paths of 24 by 24 icons, drawn as strokes. */
const PATHS = {
  home: "M4 11.5 12 4l8 7.5M6 10v10h12V10M10 20v-6h4v6",
  line: "M7 3h10a1.5 1.5 0 0 1 1.5 1.5v15A1.5 1.5 0 0 1 17 21H7a1.5 1.5 0 0 1-1.5-1.5v-15A1.5 1.5 0 0 1 7 3ZM10.5 18h3",
  call: "M5 4h4l1.5 4.5-2 1.5a12 12 0 0 0 5.5 5.5l1.5-2L20 15v4a1.5 1.5 0 0 1-1.6 1.5A16 16 0 0 1 3.5 5.6 1.5 1.5 0 0 1 5 4Z",
  batch: "M4 7h.01M4 12h.01M4 17h.01M8.5 7H20M8.5 12H20M8.5 17H20",
  pause: "M8.5 6v12M15.5 6v12",
  webhook:
    "M8.5 8.5a3.5 3.5 0 1 1 5.5 2.9l3 5.1M12 8.2l-3 5.6M15 17a3.5 3.5 0 1 0 3.4-3.5M5.6 13.9A3.5 3.5 0 1 0 9.5 17h5",
  key: "M14.5 13.5a5 5 0 1 0-4-4L4 16v4h4v-2.5h2.5V15l1.5-1.5ZM16 8h.01",
  keypad:
    "M5.75 5.75h.5v.5h-.5ZM11.75 5.75h.5v.5h-.5ZM17.75 5.75h.5v.5h-.5ZM5.75 11.75h.5v.5h-.5ZM11.75 11.75h.5v.5h-.5ZM17.75 11.75h.5v.5h-.5ZM5.75 17.75h.5v.5h-.5ZM11.75 17.75h.5v.5h-.5ZM17.75 17.75h.5v.5h-.5Z",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.5a7.5 7.5 0 0 1 15 0",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  check: "m5 12.5 4.5 4.5L19 7.5",
  close: "m6 6 12 12M18 6 6 18",
  plus: "M12 5v14M5 12h14",
  play: "M8 5.5v13l10.5-6.5Z",
  stop: "M7 7h10v10H7z",
  hangup: "M3 14.5c5-5 13-5 18 0l-2.5 3-4-1.5v-2.5c-1.6-.6-3.4-.6-5 0V16l-4 1.5Z",
  mic: "M12 4a2.5 2.5 0 0 1 2.5 2.5v5a2.5 2.5 0 0 1-5 0v-5A2.5 2.5 0 0 1 12 4ZM6 11.5a6 6 0 0 0 12 0M12 17.5V21",
  mute: "M4 4l16 16M9.5 9.5v2a2.5 2.5 0 0 0 4.2 1.8M14.5 9V6.5a2.5 2.5 0 0 0-4.7-1.2M6 11.5a6 6 0 0 0 9.8 4.6M18 11.5a6 6 0 0 1-.5 2.4M12 17.5V21",
  sound: "M4 9.5v5h3.5L12 18.5v-13L7.5 9.5ZM15.5 9a4 4 0 0 1 0 6M18 6.5a8 8 0 0 1 0 11",
  quiet: "M4 9.5v5h3.5L12 18.5v-13L7.5 9.5ZM16 9.5l5 5M21 9.5l-5 5",
  arrow: "M5 12h14M13 6l6 6-6 6",
  down: "m6 9 6 6 6-6",
  trash: "M5 7h14M10 7V4.5h4V7M7 7l1 13h8l1-13",
  warning: "M12 4 2.5 20h19ZM12 10v4.5M12 17.5h.01",
  external: "M13 5h6v6M19 5l-9 9M11 6H5v13h13v-6",
} as const;

/** The name of an icon. */
export type IconName = keyof typeof PATHS;

/** A decorative icon next to its label; hidden from screen readers. */
export function Icon({ name, size = 20 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** Ringport's logo: a port with a ring spreading from it. */
export function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect class="mark-ground" width="32" height="32" rx="9" />
      <g class="mark-rings" fill="none" stroke-width="3" stroke-linecap="round">
        <path d="M9 23a14 14 0 0 1 14-14M9 23a7 7 0 0 1 7-7" />
      </g>
      <circle class="mark-port" cx="22" cy="22" r="3" />
    </svg>
  );
}
