import { accountPages } from './account/forms.ts';
import { directoryPages } from './login/directory.ts';
import { forwardPage } from './login/forward.ts';
import { acceptPage } from './login/invitation.ts';
import { mailCodePages } from './login/mail-code.ts';
import { resetPages } from './login/reset.ts';
import { signInPages } from './login/sign-in.ts';
import { signUpPages } from './login/sign-up.ts';
import { logoutPages } from './logout.ts';
import type { Page } from './page.ts';

/** Every page and every form. */
export const pages: Page[] = [
  ...signInPages,
  ...directoryPages,
  ...mailCodePages,
  ...signUpPages,
  ...resetPages,
  acceptPage,
  forwardPage,
  ...accountPages,
  ...logoutPages,
];
