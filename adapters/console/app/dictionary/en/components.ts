export default {
  copy: "Copy",
  copied: "Copied",
  copyNamed: (name: string) => `Copy: ${name}`,
  notCopied: "The browser did not allow copying. Select the text and copy it with the keyboard.",
  loading: "Loading…",
  retry: "Try again",
  close: "Close",
  cancel: "Cancel",
  language: "Language",
};
