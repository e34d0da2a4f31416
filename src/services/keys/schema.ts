import { z } from 'zod';
import { publicJwkSchema } from '../../crypto/jwt.ts';

/** `/.well-known/jwks.json` asks nothing. */
export const jwksInput = z.strictObject({});

/** RFC 7517 §5. */
export const jwksView = z.strictObject({ keys: z.array(publicJwkSchema) });
