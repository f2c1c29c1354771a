/** Fits Swagger UI to a phone: no column for links, which no response has, and long names and types in lines of their own. */
const FIT = `.swagger-ui .response-col_links{display:none}
.swagger-ui :is(.json-schema-2020-12-accordion,.json-schema-2020-12__title){max-width:100%;overflow-wrap:anywhere;text-align:left}
.swagger-ui .json-schema-2020-12__attribute--primary{box-sizing:border-box;display:inline-block;max-width:100%;overflow:hidden;text-overflow:ellipsis;vertical-align:text-bottom;white-space:nowrap}
@media (max-width:40rem){.swagger-ui :is(.responses-inner,.opblock .table-container,.opblock-description-wrapper){padding:.75rem}
.swagger-ui table:is(.responses-table,.headers) tbody tr td:first-of-type{min-width:3em;padding-right:.5em}
.swagger-ui table.headers td{padding-right:.5em}
.swagger-ui .models .json-schema-2020-12__title{font-size:.8rem!important}}`;

/** Texts of Swagger UI that have less than the contrast that WCAG 2.2 demands (1.4.3), in another colour. */
const CONTRAST = `.swagger-ui .highlight-code span[style*="rgb(211, 99, 99)"]{color:#ff8a80!important}
html.dark-mode .swagger-ui .opblock .opblock-section-header .try-out__btn.cancel{color:#ff8a80;border-color:#ff8a80}
html.dark-mode .swagger-ui :is(table.headers td,.examples-select__section-label){color:#e4e6e6}
html:not(.dark-mode) .swagger-ui .opblock .opblock-summary-method{color:#080a0b;text-shadow:none}
html:not(.dark-mode) .swagger-ui .btn.authorize{color:#0a6b4b;border-color:#0a6b4b}
html:not(.dark-mode) .swagger-ui .btn.authorize svg{color:#0a6b4b}
html:not(.dark-mode) .swagger-ui :is(.btn.cancel,.parameter__name.required span){color:#b3261e;border-color:#b3261e}
html:not(.dark-mode) .swagger-ui .parameter__name.required::after{color:#b3261e}
html:not(.dark-mode) .swagger-ui .btn.execute{background:#1f62a8;border-color:#1f62a8}
html:not(.dark-mode) .swagger-ui .download-contents{background:#5c6373}
html:not(.dark-mode) .swagger-ui :is(.parameter__in,.json-schema-2020-12__attribute--muted){color:#5c6373}
html:not(.dark-mode) .swagger-ui .json-schema-2020-12__constraint--string{color:#080a0b}
html:not(.dark-mode) .swagger-ui .info .title small{background:#5c6373}
html:not(.dark-mode) .swagger-ui .info .title small.version-stamp{background:#446a00}
html:not(.dark-mode) .swagger-ui .info :is(a,.url){color:#1f62a8}
html:not(.dark-mode) .swagger-ui .json-schema-2020-12-expand-deep-button{color:#505050}`;

/** Style of the interactive page, beside Swagger UI's own. */
export const DOCS_STYLE = `${FIT}\n${CONTRAST}`;
