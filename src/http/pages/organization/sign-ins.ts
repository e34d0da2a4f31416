import { askOperator, partsOf } from '../../../next.ts';
import { methodNames } from '../../../services/people/sessions/method-names.ts';
import type { explain } from '../../../services/signin/explain/operations.ts';
import { minuteText } from '../../../text/dates.ts';
import { type Html, html } from '../html.ts';
import { linksFor } from '../next.ts';
import { badge, rows } from '../rows.ts';

type Explained = Awaited<ReturnType<typeof explain>>;
type Way = Explained['ways'][number];
type Block = Explained['blocks'][number];

/** How a person could sign in, and what keeps them out; null for a person without an address. */
export function explained(name: string, view: Explained | null): Html {
  if (view === null)
    return html`<section><p>${name} has no e-mail address, so only your provider or directory can sign them in.</p></section>`;
  const on = view.ways.filter((way) => way.on);
  const off = view.ways.filter((way) => !way.on);
  return html`<section aria-labelledby="answer"><h2 id="answer">${answerOf(name, view)}</h2>
<p class="quiet">This assumes that the password and codes are correct, and that the provider or directory sends the same person as before.</p>
${view.blocks.map(blockOf)}</section>
<section aria-labelledby="ways"><h2 id="ways">Ways to sign in</h2>
${rows(on.map(rowOf), 'No way to sign in is switched on for this address.')}
${off.length > 0 && html`<p class="quiet">Not available: ${off.map(labelOf).join(', ')}.</p>`}</section>`;
}

function answerOf(name: string, { ways, blocks }: Explained): string {
  if (ways.some(({ could }) => could === true)) return `${name} can sign in.`;
  const isHidden = blocks.length === 0 && ways.some(({ could }) => could === null);
  return isHidden ? `Only the operator can see this about ${name}.` : `${name} cannot sign in.`;
}

function blockOf({ message, until }: Block): Html {
  const links = linksFor(message);
  const sentences = partsOf(message).flatMap((part) => {
    if (typeof part === 'string') return [part];
    return 'operation' in part && part.by === 'operator' ? [askOperator(part)] : [];
  });
  return html`<p>${sentences.join(' ')}${until !== undefined && ` Until ${minuteText(until)}.`}</p>
${links.map(({ href, text }) => html`<p><a href="${href}">${text}</a></p>`)}`;
}

const states = new Map<Way['could'], string>([
  [true, 'works'],
  [false, 'does not work'],
  [null, 'not shown'],
]);

function rowOf(way: Way) {
  const [first = '', ...rest] = labelOf(way);
  return {
    name: first.toUpperCase() + rest.join(''),
    mark: badge(states.get(way.could) ?? ''),
    facts: [way.rule],
  };
}

function labelOf({ method }: Way): string {
  return methodNames[method] ?? method;
}
