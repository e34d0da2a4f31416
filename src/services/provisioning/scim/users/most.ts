/** The most Users on one page. */
export const mostInPage = 200;
