import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import type { showSso } from '../../../../services/tenancy/sso/operations.ts';
import type { Html } from '../../html.ts';
import type { Visit } from '../../page.ts';

// What differs between the forms of the kinds of connections to a provider.

/** The stored connection; null if there is none. */
export type Stored = Connection | null;

type Connection = Awaited<ReturnType<typeof showSso>>;

/** The kind of a connection to a provider. */
export type Kind = Connection['kind'];

/** What an admin does at a provider. */
export interface Guide {
  title: string;
  source: string;
  steps: string[];
  groups: string;
  /** The value from which the issuer follows. */
  value?: { label: string; note: string };
  /** Where the metadata is. */
  metadata?: string;
}

/** A value of idctl to enter at the provider. The steps name it in braces. */
export interface Place {
  name: string;
  label: string;
  value: string;
}

/** The form of a kind of connection. */
export interface ProviderForm<Input extends z.ZodObject = z.ZodObject> {
  kind: Kind;
  /** The end of its path. */
  path: string;
  /** When to choose this kind, as a sentence. */
  when: string;
  provider: z.ZodType<string>;
  guides: Record<string, Guide>;
  input: Input;
  /** The fields that empty their setting if they are empty. */
  whole: readonly string[];
  /** The maximum size of the form. */
  bytes: number;
  /** The settings that the form gives; `own` is the stored connection of this kind. */
  settingsOf(input: z.output<Input>, own: Stored): Record<string, unknown>;
  /** What to enter at the provider. */
  placesOf(ctx: Context, organizationId: string, own: Stored): Place[];
  /** The labels of its fields in a refusal. */
  labelsOf(guide: Guide): Record<string, string>;
  fieldsOf(
    draft: Visit & { keeps?: boolean },
    of: { name: string; guide: Guide; own: Stored },
  ): Html;
}
