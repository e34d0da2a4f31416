import { z } from 'zod';
import { userRef } from '../../foundation/fields.ts';

const code = z.string().regex(/^[0-9]{6}$/, 'must be the six digits that the authenticator shows');

/** What a person sends, whose own account it is about. */
export const ownStartTotpInput = z.strictObject({});
export const ownConfirmTotpInput = z.strictObject({ code });
export const ownDisableTotpInput = z.strictObject({ code });

/** What the operator sends, who names the account. */
export const startTotpInput = ownStartTotpInput.extend({ user: userRef });
export const confirmTotpInput = ownConfirmTotpInput.extend({ user: userRef });
export const disableTotpInput = ownDisableTotpInput.extend({ user: userRef });

/** Shown once, at the start of an enrolment. */
export const totpEnrolmentView = z.object({ secret: z.string(), otpauthUri: z.string() });
export const twoFactorView = z.object({ twoFactorEnabled: z.boolean() });
