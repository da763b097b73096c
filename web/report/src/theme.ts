// Light, dark, or as the system says. Kept where the browser lets a page from disk keep things.

import { button } from "./dom";

type Theme = "auto" | "light" | "dark";

const kThemes: Theme[] = ["auto", "light", "dark"];
const kKey = "partita-theme";

function stored(): Theme {
  try {
    const value = localStorage.getItem(kKey);
    return kThemes.find((theme) => theme === value) ?? "auto";
  } catch {
    return "auto";
  }
}

function store(theme: Theme): void {
  try {
    localStorage.setItem(kKey, theme);
  } catch {
    // Private windows refuse; the choice then lasts as long as the page.
  }
}

export function themeButton(onChange: () => void): HTMLElement {
  let theme = stored();
  const apply = () => {
    document.documentElement.dataset.theme = theme;
    element.textContent = `Theme: ${theme}`;
    onChange();
  };
  const element = button(
    "",
    () => {
      theme = kThemes[(kThemes.indexOf(theme) + 1) % kThemes.length];
      store(theme);
      apply();
    },
    { class: "theme" },
  );
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", onChange);
  apply();
  return element;
}
