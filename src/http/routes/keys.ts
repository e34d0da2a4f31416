import { z } from 'zod';
import { jwksView, viewJwks } from '../../services/foundation/keys/signing-key.ts';
import { route } from '../route.ts';

/** The public keys that verify session tokens. */
export const keyRoutes = [
  route({
    method: 'GET',
    path: '/.well-known/jwks.json',
    summary: 'The public signing keys (RFC 7517)',
    access: 'public',
    input: z.strictObject({}),
    output: jwksView,
    run: viewJwks,
  }),
];
