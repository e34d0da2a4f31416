import { z } from 'zod';
import { instant } from '../../foundation/fields.ts';

export const openLoginLinkInput = z.strictObject({ token: z.string().min(1).max(200) });
export const loginLinkView = z.object({ url: z.string(), expiresAt: instant });
