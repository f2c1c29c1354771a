import type { CommandSpec } from "../command.ts";
import { print } from "../terminal/terminal.ts";
import { SCRIPTS, type Shell } from "./scripts.ts";

/** `ringport completion`: what makes the Tab key work. */
export const completion: CommandSpec = {
  summary: "Prints the script that completes commands, options, ids and voices in a shell.",
  details: [
    "bash: source <(ringport completion bash)             # in ~/.bashrc",
    "zsh:  source <(ringport completion zsh)              # in ~/.zshrc, after compinit",
    "fish: ringport completion fish | source              # in ~/.config/fish/config.fish",
  ].join("\n"),
  operands: [{ name: "SHELL", values: Object.keys(SCRIPTS) }],
  options: [],
  settings: [],
  async run({ operands }) {
    print(SCRIPTS[operands[0] as Shell]);
    return 0;
  },
};
