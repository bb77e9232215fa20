# python3 inference.py, with scipy 1.17.1, statsmodels 0.15.0, numpy 2.4.6 and mpmath,
# writes inference.json beside it.
import json, numpy as np
from scipy import stats
rng=np.random.default_rng(7)
out={}
def smp(n,ties): 
    x=np.exp(0.05*rng.standard_normal(n))*100
    return np.round(x,0 if ties else 3).tolist()
two=[]
for na,nb,ties in [(3,3,0),(4,4,0),(5,5,0),(3,5,0),(7,7,0),(5,7,1),(4,6,1),(8,8,1),(20,20,0)]:
    a,b=smp(na,ties),[v*1.04 if not ties else float(round(v*1.04)) for v in smp(nb,ties)]
    a_,b_=np.array(a),np.array(b)
    st=stats.ttest_ind(b_,a_); we=stats.ttest_ind(b_,a_,equal_var=False)
    ci=st.confidence_interval(.95); wci=we.confidence_interval(.95)
    d=dict(A=a,B=b,StudentT=st.statistic,StudentP=st.pvalue,Student=[ci.low,ci.high],WelchT=we.statistic,WelchP=we.pvalue,WelchDF=we.df,Welch=[wci.low,wci.high])
    if na+nb<=16:
        f=lambda x,y,axis=-1: abs(np.mean(y,axis=axis)-np.mean(x,axis=axis))
        pt=stats.permutation_test((a_,b_),f,vectorized=True,alternative='greater',n_resamples=np.inf)
        d['Permutation']=pt.pvalue
    else:
        d['Permutation']=-1
    two.append(d)
out['Two']=two
one=[]
for n,ties in [(3,0),(5,0),(6,0),(8,1),(10,0),(12,1),(40,0)]:
    x=np.round(rng.standard_normal(n)*2+1,0 if ties else 3)
    d=dict(D=x.tolist())
    t=stats.ttest_1samp(x,0); ci=t.confidence_interval(.95)
    d.update(T=t.statistic,P=t.pvalue,Student=[ci.low,ci.high])
    if n<=12:
        d['SignFlip']=stats.permutation_test((x,),lambda y,axis=-1: abs(np.mean(y,axis=axis)),vectorized=True,permutation_type='samples',alternative='greater',n_resamples=np.inf).pvalue
    else:
        d['SignFlip']=-1
    one.append(d)
out['One']=one
pw=[]
from mpmath import mp, mpf, quad, ncdf, gamma, sqrt, exp, inf
mp.dps=25
def power(ncp,df,alpha):
    # P(|T|>c), T=(Z+ncp)/sqrt(V/df): integrate over V, in 25 digits
    c=mpf(stats.t.ppf(1-alpha/2,df)); df=mpf(df)
    f=lambda s: (ncdf(ncp-c*s)+ncdf(-ncp-c*s))*2*(df/2)**(df/2)/gamma(df/2)*s**(df-1)*exp(-df*s*s/2)
    m=ncp/c; w=1/c
    pts=sorted({mpf(0),mpf(12)}|{mpf(v) for v in (.25,.5,.75,1,1.25,1.5,2,3,6)}|{max(mpf(0),min(mpf(12),m+w*k)) for k in (-8,-4,-2,-1,0,1,2,4,8)})
    return quad(f,pts)
for n in [2,3,4,5,7,10,17,26,64,200]:
    for d in [.1,.5,1,2,5]:
        ncp=d*np.sqrt(n/2)
        pp=d*np.sqrt(n)
        pw.append(dict(N=n,Effect=d,Power=float(power(ncp,2*n-2,.05)),Paired=float(power(pp,n-1,.05))))
far=[]
for df,ncp,alpha in [(1,5,.05),(1,29.9,.05),(1,31,.05),(1,45,.05),(1,45,.001),(2,29.9,.001),(2,31,.001),(2,60,.001),(4,31,.00001),(198,31,.05)]:
    far.append(dict(DF=df,Far=ncp,Alpha=alpha,Power=float(power(ncp,df,alpha))))
out['Far']=far
out['Power']=pw
from statsmodels.stats.multitest import multipletests
ad=[]
for p in ([.01,.02,.03,.04,.05],[.0001,.0004,.0019,.0095,.0201,.0278,.0298,.0344,.0459,.3240,.4262,.5719,.6528,.7590,1.0],[.5,.04,.04,.9,.001]):
    ad.append(dict(P=p,Holm=multipletests(p,method='holm')[1].tolist()))
out['Adjust']=ad
json.dump(out,open('inference.json','w'))
