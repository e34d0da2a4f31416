import { afterAll } from 'vitest';
import { closeLeftOpen } from './idctl.ts';

// Registered before the hooks of the file, so it runs after them.
afterAll(closeLeftOpen);
