/**
 * The style sheet of the HTML pages. One text, because its hash is in the Content-Security-Policy.
 * @module
 */

const COLOURS = `
:root{color-scheme:light dark;
--page:#f3f5f8;--card:#fff;--inset:#f7f9fb;--text:#16202c;--soft:#546172;--line:#d9e0e8;--link:#0b57b0;
--good:#1c8a4f;--warn:#b26a00;--bad:#c8232c;--cool:#4f5bd5;--info:#0b73c9;--quiet:#6b7887;--shade:0 1px 2px #1a2b4012}
@media(prefers-color-scheme:dark){:root{
--page:#0d1218;--card:#151c25;--inset:#1a232e;--text:#e7edf4;--soft:#9dabbb;--line:#2a3542;--link:#7db8ff;
--good:#45c486;--warn:#eba83a;--bad:#ff7a73;--cool:#a3acff;--info:#6cb6ff;--quiet:#94a2b2;--shade:none}}`;

const BASE = `
*{box-sizing:border-box}
html{font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--text);font-variant-numeric:tabular-nums}
h1,h2,h3,p,ul,dl,dd,table,figure{margin:0;padding:0}
ul,ol{list-style:none;margin:0;padding:0}
a{color:var(--link);text-underline-offset:.15em}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:4px}
h1{font-size:1.7rem;line-height:1.2;letter-spacing:-.015em}
h2{font-size:1.05rem;margin:2.2rem 0 .7rem}
h3{font-size:1rem}
code,.id{font:.86em/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.id,.soft,.nothing{color:var(--soft)}
.name,.id,.why,td,dd{overflow-wrap:anywhere;unicode-bidi:isolate}
.why,dd,.head b,.path b{max-height:18rem;overflow-y:auto}
.count{color:var(--soft);font-weight:400}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:.5rem;background:var(--card);padding:.4rem .8rem;z-index:1}
header,main,footer{max-width:78rem;margin:auto;padding:0 1.25rem}
header{display:flex;align-items:center;gap:.6rem;padding-top:1rem;padding-bottom:1.2rem;color:var(--soft)}
header .brand{display:flex;align-items:center;gap:.5rem;font-weight:650;color:var(--text);text-decoration:none}
header .places{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin-left:.6rem}
header .places [aria-current]{color:var(--text);font-weight:650;text-decoration:none}
header svg{width:1.7rem;height:1.7rem;color:var(--link)}
#live{margin-left:auto;display:flex;align-items:center;gap:.6rem;font-size:.9rem}
#live[hidden]{display:none}
.old #live{position:fixed;inset:0 0 auto;z-index:1;justify-content:center;padding:.5rem;background:var(--card);
border-bottom:3px solid var(--bad)}
.old #live span{color:var(--bad);font-weight:650}
.old body{padding-top:3.2rem}
.old main{filter:grayscale(1)}
.old h1{color:var(--soft)}
button,input{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:7px;
padding:.3rem .75rem;min-height:2.1rem}
button{cursor:pointer}
button:hover,input:hover{border-color:var(--soft)}
input::placeholder{color:var(--soft);opacity:1}
footer{padding-top:2.5rem;padding-bottom:2rem;color:var(--soft);font-size:.9rem}
footer a{margin-right:1rem;display:inline-block}`;

/** Shapes and colours of states. The shape works without colour, and every state except "well" is written out. */
const MARKS = `
.mark{display:inline-flex;align-items:baseline;gap:.42em}
.mark::before,.dot::before{content:"";flex:none;width:.72em;height:.72em;background:var(--tone);
forced-color-adjust:none;print-color-adjust:exact}
.s-well{--tone:var(--good)}.s-foreign{--tone:var(--quiet)}.s-joining{--tone:var(--info)}
.s-stopped,.s-outOfService{--tone:var(--cool)}
.s-differs,.s-conflict,.s-notReady,.s-unseen{--tone:var(--warn)}
.s-unmatched,.s-failing,.s-missing{--tone:var(--bad)}
.s-well::before{border-radius:50%}
.s-foreign::before{border-radius:50%;background:none;border:.17em solid var(--tone)}
.s-joining::before{clip-path:polygon(0 0,62% 0,100% 50%,62% 100%,0 100%,38% 50%)}
.s-stopped::before{border-radius:1px}
.s-outOfService::before{clip-path:polygon(50% 2%,100% 60%,0 60%,0 74%,100% 74%,100% 98%,0 98%,0 60%)}
.s-differs::before{clip-path:polygon(0 12%,100% 12%,100% 40%,0 40%,0 60%,100% 60%,100% 88%,0 88%,0 60%,0 40%)}
.s-conflict::before{clip-path:polygon(0 0,42% 0,42% 100%,58% 100%,58% 0,100% 0,100% 100%,0 100%)}
.s-notReady::before{clip-path:polygon(50% 4%,100% 94%,0 94%)}
.s-unseen::before{border-radius:50%;background:linear-gradient(90deg,var(--tone) 50%,transparent 50%);
border:.13em solid var(--tone)}
.s-unmatched::before{clip-path:polygon(50% 0,100% 50%,50% 100%,0 50%)}
.s-failing::before{clip-path:polygon(30% 0,70% 0,100% 30%,100% 70%,70% 100%,30% 100%,0 70%,0 30%)}
.s-missing::before{clip-path:polygon(20% 0,50% 30%,80% 0,100% 20%,70% 50%,100% 80%,80% 100%,50% 70%,20% 100%,
0 80%,30% 50%,0 20%)}
rect{fill:var(--tone)}
.bar{display:block;width:100%;height:.5rem;border-radius:99px;background:var(--line);forced-color-adjust:none}`;

const OVERVIEW = `
.lead{display:flex;flex-wrap:wrap;align-items:end;justify-content:space-between;gap:.8rem 2rem}
.lead p{color:var(--soft)}
.lead>div{flex:1 1 24rem}
.lead form{display:flex;gap:.4rem;flex:0 1 20rem}
.lead input{flex:1;min-width:0}
main>.bar{margin:1.1rem 0 .8rem}
section>.lead{align-items:baseline;margin:2.2rem 0 .7rem}
section>.lead h2{margin:0}
section>.bar{margin:0 0 .8rem}
.bar.share{height:.32rem;max-width:12rem;margin-top:.25rem}
.lead+.chips{margin-top:1.1rem}
.chips{display:flex;flex-wrap:wrap;gap:.45rem}
.chips a{display:inline-flex;gap:.42em;align-items:center;text-decoration:none;color:inherit;background:var(--card);
border:1px solid var(--line);border-radius:99px;padding:.2rem .8rem;min-height:2rem}
.chips a:hover,.chips a[aria-current]{border-color:var(--tone,var(--soft))}
.chips a[aria-current]{box-shadow:inset 0 0 0 1px var(--tone,var(--soft))}
.chips b{font-weight:650}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(13rem,100%),1fr));gap:.8rem;margin-top:1.2rem}
.facts>div,.card{background:var(--card);border:1px solid var(--line);border-radius:11px;box-shadow:var(--shade)}
.facts>div{padding:.75rem 1rem}
.facts dt{color:var(--soft);font-size:.86rem}
.facts dd{font-size:1.2rem;font-weight:600;line-height:1.3}
.facts dd+dd{font-size:.86rem;font-weight:400;color:var(--soft);margin-top:.15rem}
.banner,.trouble{border:1px solid var(--line);border-left:4px solid var(--tone);background:var(--card);
border-radius:9px;padding:.75rem 1rem;box-shadow:var(--shade)}
.banner{margin:0 0 1.2rem;--tone:var(--bad)}
.banner.calm{--tone:var(--info)}
.trouble+.trouble{margin-top:.6rem}
.trouble h3{display:flex;flex-wrap:wrap;gap:.2rem .6rem;align-items:baseline}
.rows{margin-top:.5rem}
.rows>li{display:grid;grid-template-columns:minmax(9rem,1fr) 4fr;gap:0 1.2rem;padding:.35rem 0;
border-top:1px solid var(--line)}
.rows small{display:block;font-size:.86rem}
.rows .why{font-size:.93rem}`;

const BOXES = `
summary{cursor:pointer;border-radius:8px}
.box{background:var(--card);border:1px solid var(--line);border-radius:11px;box-shadow:var(--shade)}
.box+.box{margin-top:.8rem}
.box>summary{display:grid;grid-template-columns:.7rem minmax(8rem,1fr) auto;gap:.1rem .6rem;align-items:baseline;
padding:.7rem 1rem;list-style:none}
summary::-webkit-details-marker{display:none}
.box>summary::before{content:"";width:.45em;height:.45em;border:solid var(--soft);border-width:0 2px 2px 0;
transform:rotate(-45deg);align-self:center}
.box[open]>summary::before{transform:translateY(-.15em) rotate(45deg)}
.box>summary .problem{margin-top:.25rem}
.box>summary:hover{background:var(--inset)}
.head{display:flex;flex-wrap:wrap;gap:0 .5rem;align-items:baseline;min-width:0}
.head b{font-weight:650;overflow-wrap:anywhere;unicode-bidi:isolate}
.box>summary .bar,.box>summary .problem{grid-column:2/-1}
.box>summary .bar{height:.32rem;margin-top:.25rem}
.tally{display:flex;flex-wrap:wrap;justify-content:end;gap:0 .8rem;font-size:.9rem}
.inside{padding:0 1rem 1rem}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(21rem,100%),1fr));gap:.7rem;align-items:start}
.box .box{background:var(--inset);border-radius:9px;box-shadow:none;margin:0}
.box .box>summary{padding:.5rem .8rem}
.box .box .inside{padding:0 .8rem .8rem}
.box .box>summary:hover{background:var(--card)}
.tiles{display:flex;flex-wrap:wrap;gap:.35rem}
.inside>.tiles+.grid,.inside>.grid+.loose{margin-top:.7rem}
.loose{border:1px dashed var(--line);border-radius:9px;padding:.5rem .8rem .7rem}
.loose h3{font-size:.95rem;font-weight:400;color:var(--soft);margin-bottom:.35rem}
.dot{display:inline-flex;align-items:center;gap:.42em;flex-wrap:wrap;max-width:100%;min-height:1.85rem;color:inherit;
text-decoration:none;padding:.1rem .55rem;background:var(--card);border:1px solid var(--line);border-radius:7px;
overflow-wrap:anywhere;unicode-bidi:isolate}
.dot:hover{border-color:var(--tone)}
.dot:not(.s-well){border-color:color-mix(in srgb,var(--tone) 55%,var(--line))}
.dot i{font-style:normal;color:var(--soft);font-size:.9em}
.racks .box{margin:0}
.racks .box>summary,.tall>summary{grid-template-columns:.7rem 1fr}
.racks .box>summary .tally,.tall>summary .tally{grid-column:2}
.racks .tally,.tall .tally,.lead .tally{justify-content:start}
section+.more{margin-top:.8rem}
.chips+.racks{margin-top:.8rem}
.more{margin-top:.3rem}
.more>summary{color:var(--link);width:max-content;max-width:100%;padding:.15rem 0}
.more>.tiles{margin-top:.4rem}`;

/** A column of states is wide only if a state has a reason. */
const TABLES = `
table{width:100%;border-collapse:collapse}
caption{text-align:left;font-weight:600;padding:.75rem 1rem .4rem}
th,td{text-align:left;vertical-align:top;padding:.45rem 1rem;border-top:1px solid var(--line)}
thead th{color:var(--soft);font-weight:400;font-size:.88rem;border-top:0}
tbody th{font-weight:600;overflow-wrap:anywhere}
tbody th p{font-weight:400;font-size:.88rem}
th code{display:inline-block;min-width:8rem;font-weight:400}
@media(min-width:60.01rem){.nodes{table-layout:fixed}
.nodes th:first-child,.nodes th:nth-child(4){width:19%}.nodes th:nth-child(3){width:16%}
.nodes th:last-child{width:7rem}
.nodes.balancers th:nth-child(2){width:34%}.nodes.balancers th:nth-child(n+3):nth-child(-n+4){width:auto}
.nodes.balancers th:nth-child(5){width:7rem}
.nodes.leftovers th:nth-child(n){width:auto}.nodes.leftovers th:first-child{width:10rem}
.nodes.sips th:nth-child(2){width:42%}.nodes.sips th:nth-child(3){width:auto}.nodes.sips th:nth-child(4){width:9.5rem}
.nodes.machines th:nth-child(n){width:auto}.nodes.machines th:first-child{width:20%}
.nodes.machines th:nth-child(2){width:25%}.nodes.machines th:nth-child(n+3):nth-child(-n+4){width:8rem}
.nodes.machines:not(:has(td:nth-child(2) .why)) th:first-child{width:27%}
.nodes:is([class=nodes],.balancers,.sips,.machines):not(:has(td:nth-child(2) .why)) th:nth-child(2){width:11rem}
.nodes.events th:nth-child(n){width:auto}.nodes.events th:first-child{width:21rem}
.nodes.events th:nth-child(n+3){width:5rem}
.nodes.leftovers th:nth-child(5){width:5rem}.nodes.pools th:nth-child(n){width:auto}}
.card+.card,.soft+.card{margin-top:.8rem}
.card>dl{display:grid;grid-template-columns:minmax(8rem,auto) 1fr;padding:.4rem 0}
.card>dl>*{padding:.3rem 1rem}
.card>dl>dt{color:var(--soft)}
.l-same{--tone:var(--good)}.l-missing,.l-differs,.l-extra{--tone:var(--warn)}.l-kept,.l-unknown{--tone:var(--quiet)}
tr.l-missing,tr.l-differs,tr.l-extra{background:color-mix(in srgb,var(--warn) 9%,transparent)}
td.verdict{white-space:nowrap;font-size:.93rem}
td.verdict::before{content:"";display:inline-block;width:.6em;height:.6em;margin-right:.5em;background:var(--tone);
border-radius:50%}
.l-missing>.verdict::before,.l-differs>.verdict::before,.l-extra>.verdict::before{border-radius:0;
clip-path:polygon(50% 4%,100% 94%,0 94%)}
.l-kept>.verdict::before,.l-unknown>.verdict::before{border-radius:0;height:.2em;vertical-align:middle}
.path{display:flex;flex-wrap:wrap;align-items:stretch;gap:.5rem 1.9rem;margin:1.2rem 0}
.path li{position:relative;flex:1 1 12rem;background:var(--card);border:1px solid var(--line);border-radius:11px;
padding:.65rem 1rem;box-shadow:var(--shade);min-width:0}
.path li+li::before{content:"";position:absolute;left:-1.35rem;top:50%;width:.6rem;height:.6rem;
border:solid var(--soft);border-width:2px 2px 0 0;transform:translateY(-50%) rotate(45deg)}
.path small{display:block;color:var(--soft);font-size:.86rem}
.path b{display:block;font-size:1.1rem;font-weight:650;overflow-wrap:anywhere;unicode-bidi:isolate}
.path .none{border-style:dashed}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(24rem,100%),1fr));gap:.8rem;align-items:start}
.why+.pair{margin-top:1rem}
.pair .card+.card{margin:0}
.empty{padding:.2rem 1rem .8rem}
.caption{padding:.75rem 1rem .1rem}
.same>summary{margin:0 1rem;padding:.3rem 0 .6rem}
.links li{margin-top:.6rem}
.back{margin-bottom:.3rem}
.steps{padding-left:1.6rem;list-style:decimal}
.title{display:flex;flex-wrap:wrap;gap:.3rem 1rem;align-items:baseline}
.title .mark{font-size:1.1rem}
.title+.why{max-width:70rem;margin-top:.4rem}`;

/** A table is a list where its columns would be narrower than their words. */
const NARROW = `
@media(max-width:60rem){
thead{position:absolute;left:-99rem}
tbody,tbody tr,tbody th,tbody td{display:block;border:0}
tbody tr{border-top:1px solid var(--line);padding:.5rem 0}
thead+tbody>tr:first-child{border-top:0}
caption+thead+tbody>tr:first-child{padding-top:0}
tbody th,tbody td{padding:.1rem .8rem}
caption{padding-left:.8rem}
td[data-label]::before{content:attr(data-label) " ";color:var(--soft)}
tbody .nothing{display:none}}
@media(max-width:48rem){.lead form{flex:1 1 100%}}`;

const PHONE = `
@media(max-width:40rem){
header,main,footer{padding-left:.8rem;padding-right:.8rem}
header{flex-wrap:wrap}
header .places{order:1;flex-basis:100%;margin:0;gap:.2rem .9rem}
h1{font-size:1.4rem}
.rows>li{grid-template-columns:1fr}
.facts{grid-template-columns:1fr 1fr;gap:.5rem}
.facts>div:last-child:nth-child(odd){grid-column:1/-1}
.facts>div{padding:.6rem .75rem}
.facts dd{font-size:1.05rem}
.box>summary{grid-template-columns:.7rem 1fr}
.box>summary .tally{grid-column:2;justify-content:start}
.box>summary,.inside{padding-left:.75rem;padding-right:.75rem}
.card>dl{grid-template-columns:1fr}
.card>dl>*{padding:.1rem .8rem}
.card>dl>dd{padding-bottom:.4rem}
.path{flex-direction:column;gap:1.3rem}
.path li{flex:none}
.path li+li::before{left:1.2rem;top:-.95rem;transform:rotate(135deg)}}
@media print{#live,form{display:none}}`;

/** The style sheet. */
export const STYLE: string = [COLOURS, BASE, MARKS, OVERVIEW, BOXES, TABLES, NARROW, PHONE].join(
  "",
);
