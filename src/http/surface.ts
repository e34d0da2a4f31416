import { authenticate } from '../services/people/authentication/authenticate.ts';
import { pages } from './pages/list.ts';
import { operationRoutes } from './routes/list.ts';
import { referenceRoutes } from './routes/reference.ts';
import type { Surface } from './server.ts';

/** Everything that idctl answers over HTTP. */
export const surface: Surface = {
  routes: [...operationRoutes, ...referenceRoutes(operationRoutes)],
  pages,
  authenticate,
};
