import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { refusalForClients } from '../refusals.ts';
import { fillPath, pathKeys } from '../route.ts';
import { html } from './html.ts';
import { otherLinks } from './navigation.ts';
import {
  accessTo,
  operationForm,
  type Page,
  type PageOperation,
  type PageReply,
  page,
  type ShownPage,
  type Visit,
} from './page.ts';
import { alert, postForm } from './parts.ts';

interface Words<View, Input> {
  /** The name of the act, on the button. */
  act: string;
  /** Where a person goes who changes their mind; it may have keys of the path. */
  back: string;
  /** Sentences about further consequences, which the operation does not know. */
  further?: (ctx: Context, input: Input) => Promise<string[]>;
  reply: (visit: Visit, view: View, input: Input) => Promise<PageReply> | PageReply;
}

/**
 * A page that says what an operation ends, and its form. The page rehearses the operation, so a
 * refusal is told before the person agrees.
 */
export function endingPages<Input extends z.ZodObject, View>(
  path: string,
  operation: PageOperation<Input, View>,
  { act, back, further, reply }: Words<View, z.output<Input>>,
): Page[] {
  const { ends, input } = operation;
  if (ends === undefined) throw new Error(`the operation of ${path} does not say what it ends`);
  const refused = (visit: Visit & { refusal: Refusal }): ShownPage => ({
    title: act,
    main: html`<h1>${act}</h1>
${alert(visit)}
<p><a class="button" href="${fillPath(back, visit.given)}">Back</a></p>`,
  });
  const ask = async (visit: Visit, given: z.output<Input>): Promise<ShownPage> => {
    const view = await visit.rehearse(operation, given);
    const effects = [
      ...(ends.effects?.(view, given) ?? []),
      ...((await further?.(visit.ctx, given)) ?? []),
    ];
    return {
      title: act,
      main: html`<h1>${ends.ask(view, given)}</h1>
${effects.map((effect) => html`<p>${effect}</p>`)}
${postForm(visit, fillPath(path, visit.given), html`<button class="danger" type="submit">${act}</button>`, besides(path, visit))}
${otherLinks(html`<a href="${fillPath(back, visit.given)}">Cancel</a>`)}`,
    };
  };
  return [
    page({
      path,
      access: accessTo(operation),
      input,
      show: async (visit, given) => {
        try {
          return await ask(visit, given);
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          const shown = refused({ ...visit, refusal: refusalForClients(error) });
          return { ...shown, refusal: error };
        }
      },
    }),
    operationForm(path, operation, { reply, refused }),
  ];
}

/** The fields that the form has to send: neither in the path, nor known from a setup link. */
function besides(path: string, { ctx, given }: Visit): Record<string, string> {
  const known = ctx.actor.kind === 'setupLink' ? ['org'] : [];
  const keys = new Set([...pathKeys(path), ...known]);
  return Object.fromEntries(Object.entries(given).filter(([field]) => !keys.has(field)));
}
