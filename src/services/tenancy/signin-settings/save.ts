import { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Organization } from '../../../database/models/organization.ts';
import { SignInSettings } from '../../../database/models/sign-in-settings.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { requireOwnersLetIn } from './owners.ts';
import type { changeSignInSettingsInput, saveSignInSettingsInput } from './schema.ts';
import { type Choices, settingNames, settingsOf } from './settings.ts';

/** Saves the organization's sign-in settings whole: what is absent is left to the instance (spec §2.9). */
export async function saveSignInSettings(ctx: Context, input: z.output<typeof saveSignInSettingsInput>) {
  const { organization } = await requireAuthority(ctx, 'signin.change', input.org);
  return transaction(() => write(ctx, organization, () => choicesIn(input)));
}

/** Saves those of the sign-in settings that are given; the others stay as they are. */
export async function changeSignInSettings(ctx: Context, input: z.output<typeof changeSignInSettingsInput>) {
  const { organization } = await requireAuthority(ctx, 'signin.change', input.org);
  return transaction(() => write(ctx, organization, (stored) => ({ ...stored, ...choicesIn(input) })));
}

async function write(ctx: Context, organization: Organization, decide: (stored: Choices) => Choices) {
  // Held until the end, so that of two changes the second sees what the first has left.
  await Organization.findByPk(organization.id, { lock: Transaction.LOCK.NO_KEY_UPDATE });
  const row = await SignInSettings.findByPk(organization.id);
  const stored = row === null ? {} : choicesIn(row);
  const choices = decide(stored);
  const [before, after] = [settingsOf(ctx, stored), settingsOf(ctx, choices)];
  await requireOwnersLetIn(ctx, organization, { before, after });
  await row?.destroy();
  await SignInSettings.create({ organizationId: organization.id, ...choices });
  await recordEvent(ctx, {
    kind: 'signin.saved',
    organizationId: organization.id,
    subject: { type: 'organization', id: organization.id, name: organization.slug },
    data: after,
  });
  return after;
}

/** What is said of each setting, and nothing else. */
function choicesIn(given: { [Name in keyof Choices]: boolean | null | undefined }): Choices {
  const said = settingNames.flatMap((name) => {
    const value = given[name];
    return value === undefined || value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(said);
}
