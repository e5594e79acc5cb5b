// The findings at the selected place, as a list with what each rule says.

import { html, nothing, type TemplateResult } from "lit";
import { linked } from "../shared/panel";
import { SEVERITIES, worst, type Finding } from "./marks";

/** Most findings that are listed. */
const MOST = 100;
const SIGNS = { error: "✖", warning: "▲", note: "●" } as const;

/** A badge for a row; its title lists what was found. */
export function badge(findings: Finding[]): TemplateResult | typeof nothing {
  if (!findings.length) return nothing;
  const severity = worst(findings);
  const lines = findings.slice(0, MOST).map((one) => `${one.severity}: ${one.message}`);
  const name = `${findings.length} ${findings.length === 1 ? "finding" : "findings"}, the worst is ${severity === "error" ? "an error" : `a ${severity}`}`;
  return html`<span class=${`badge of-${severity}`} role="img" aria-label=${name} title=${lines.join("\n")}
    >${SIGNS[severity]}${findings.length > 1 ? findings.length : ""}</span
  >`;
}

export function findingsList(findings: Finding[], place: string): TemplateResult | typeof nothing {
  if (!findings.length) return nothing;
  const sorted = [...findings].sort((one, other) => SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity));
  const left = sorted.length - MOST;
  return html`<ul class="findings" aria-label=${`Findings at ${place}`}>
    ${sorted.slice(0, MOST).map(
      (one) =>
        html`<li class=${`of-${one.severity}`} title=${[one.title, one.explanation, one.hint, `${one.confidence}: ${one.source}`].filter(Boolean).join("\n")}>
          <span class="sign" aria-hidden="true">${SIGNS[one.severity]}</span>
          <span
            >${linked(one.address)} ${linked(one.message)}${one.count > 1 ? html` <span class="dim">${one.count} times</span>` : nothing}
            <span class="dim">${one.rule}</span>${one.hint ? html`<span class="hint">${one.hint}</span>` : nothing}</span
          >
        </li>`,
    )}
    ${left > 0 ? html`<li class="dim">${left} more are not listed</li>` : nothing}
  </ul>`;
}
