import { viewJwks } from '../../services/foundation/keys/jwks.ts';
import { jwksInput, jwksView } from '../../services/foundation/keys/schema.ts';
import { route } from '../route.ts';

/** The public keys that session tokens are checked with. */
export const keyRoutes = [
  route({
    method: 'GET',
    path: '/.well-known/jwks.json',
    summary: 'The public signing keys (RFC 7517)',
    access: 'public',
    input: jwksInput,
    output: jwksView,
    run: viewJwks,
  }),
];
