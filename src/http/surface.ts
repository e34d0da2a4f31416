import { authenticate } from '../services/people/authentication/authenticate.ts';
import { pages } from './pages/list.ts';
import { operationRoutes } from './routes/list.ts';
import { referenceRoutes } from './routes/reference.ts';
import type { Surface } from './server.ts';

/** All routes and pages of idctl. */
export const surface: Surface = {
  routes: [...operationRoutes, ...referenceRoutes(operationRoutes)],
  pages,
  authenticate,
};
