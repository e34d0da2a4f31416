import { z } from 'zod';
import { SignInSettings } from '../../../../database/models/sign-in-settings.ts';
import { settingNames } from '../../../tenancy/signin-settings/governing.ts';
import {
  choicesIn,
  saveSignInSettings,
  signInSettingsView,
} from '../../../tenancy/signin-settings/operations.ts';
import { type Draft, differences } from '../changes.ts';
import type { Wanted } from '../outside.ts';
import type { Apply, Read } from '../section.ts';

const input = z
  .strictObject(signInSettingsView.partial().shape)
  .optional()
  .describe('The sign-in settings. An absent setting follows the instance.');

interface SignInState {
  signin: ReturnType<typeof choicesIn>;
}

type Steps = Record<string, boolean> | null;

const read: Read<SignInState['signin']> = async (_ctx, { id }) => {
  const settings = await SignInSettings.findByPk(id);
  return settings === null ? {} : choicesIn(settings);
};

function plan(
  draft: Draft,
  { state, document: { signin } }: Wanted<SignInState, { signin?: z.output<typeof input> }>,
): Steps {
  if (signin === undefined) return null;
  const all = (choices: Record<string, boolean | undefined>) =>
    Object.fromEntries(settingNames.map((name) => [name, choices[name] ?? null]));
  const fields = differences(all(state.signin), all(signin));
  if (fields.length === 0) return null;
  draft.changes.push({ section: 'signin', action: 'change', key: 'signin', fields });
  return Object.fromEntries(
    settingNames.flatMap((name) => (signin[name] === undefined ? [] : [[name, signin[name]]])),
  );
}

const apply: Apply<{ signin: Steps }> = async (ctx, { id: org }, { signin }) => {
  if (signin !== null) await saveSignInSettings(ctx, { org, ...signin });
};

/** The section with the sign-in settings. */
export const signin = {
  input,
  exported: signInSettingsView.partial(),
  read,
  plan,
  apply,
  view: ({ signin }: SignInState) => ({ ...signin }),
  cap: null,
};
