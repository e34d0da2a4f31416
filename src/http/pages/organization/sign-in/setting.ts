import { z } from 'zod';
import type { SettingWords } from '../../../../services/foundation/setting-words.ts';
import type { Html } from '../../html.ts';
import type { Visit } from '../../page.ts';
import { area, choice, field } from '../../parts.ts';

type Draft = Pick<Visit, 'given' | 'refusal'> & { keeps?: boolean };

/** How a form shows a setting. */
interface Shape {
  /** A secret: it is not shown, and a form without it keeps the stored one. */
  secret?: boolean;
  /** The setting may be absent. */
  optional?: true | undefined;
  /** Several lines. */
  lines?: true;
}

/** The field for a setting, with the label and the advice of its words. */
export function settingField(
  draft: Draft,
  name: string,
  { words, schema, value }: { words: SettingWords; schema: z.core.$ZodType; value: unknown },
  { secret, optional, lines }: Shape = {},
): Html {
  const of = {
    name,
    label: words.page?.label ?? words.label,
    note: words.page?.about ?? plain(words.about),
    value: value === null || value === undefined ? undefined : String(value),
  };
  const plainSchema = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  if (plainSchema instanceof z.ZodArray) {
    const note = `${of.note} One on each line.`;
    const entries = Array.isArray(value) ? value.join('\n') : undefined;
    return area(draft, { ...of, note, optional: true, rows: 3, maxLength: 40_000, value: entries });
  }
  if (plainSchema instanceof z.ZodBoolean) return choice(draft, { ...of, options: answers(words) });
  if (plainSchema instanceof z.ZodEnum) {
    const options = Object.fromEntries(plainSchema.options.map((each) => [each, String(each)]));
    return choice(draft, { ...of, options });
  }
  const may = optional && { optional };
  if (lines) return area(draft, { ...of, ...may, maxLength: 100_000 });
  if (secret) {
    return field(draft, { ...of, ...may, type: 'password', autocomplete: 'off', value: null });
  }
  return field(draft, { ...of, ...may, autocomplete: 'off', verbatim: true, maxLength: 2000 });
}

function answers({ page }: SettingWords): Record<string, string> {
  const { true: yes = 'Yes', false: no = 'No' } = page?.values ?? {};
  return { true: yes, false: no };
}

/** The advice without the marks of the documentation. */
function plain(about: string): string {
  return about.replaceAll('`', '');
}
